import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import { describe, expect, it, vi } from "vitest"
import { projectServer, run, workspaceWith } from "./exampleProject.ts"

/** SvelteKit's build requires the server's variables; at run time, the server must read the current ones. */
const BUILD_SETTINGS = { WEBHOOK_SECRET: "whsec_of_the_build" }
const SECRET = "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r"
/** The size of the service's largest event. */
const MAX_EVENT_BYTES = 65_536

const workspace = workspaceWith("webhook-verifier")

describe.each(["nestjs", "sveltekit", "react-router", "nextjs"])(
  "the receiver in examples/%s, built and in production",
  (name) => {
    const eventsIn = (project: string) => join(project, "events.jsonl")
    const server = projectServer(workspace, name, {
      prepare: async (project) => {
        await run(project, ["npm", "run", "build"], BUILD_SETTINGS)
        await writeFile(eventsIn(project), "")
        return { WEBHOOK_SECRET: SECRET, EVENTS_FILE: eventsIn(project) }
      },
      args: (host) => (name === "nextjs" ? ["--hostname", host] : []),
    })

    const send = async (event: object | string, secret = SECRET) => {
      const { headers, body } = await signWebhook(event, [secret])
      const response = await fetch(`${server.url}/webhooks`, { method: "POST", headers: { ...headers }, body })
      return { status: response.status, text: await response.text() }
    }
    const post = async (event: object | string, secret = SECRET) => (await send(event, secret)).status
    const timesStored = async ({ event_id }: { readonly event_id: string }) =>
      (await readFile(eventsIn(server.project), "utf8")).split(`"event_id":"${event_id}"`).length - 1

    it("stores an event once, however often it comes, from exactly the bytes that were signed", async () => {
      const event = { ...sampleEvent("outreach.email_sent"), metadata: { note: "Zoë — 診 🚀 \u2028" } }
      const text = `${JSON.stringify(event, null, 2)}\n`
      expect([await post(text), await post(text), await post(text)]).toEqual([200, 200, 200])
      expect(await timesStored(event)).toBe(1)
    })
    it("rejects a wrong signature, and a signed body that isn't an event", async () => {
      const event = sampleEvent("outreach.email_clicked")
      expect(await post(event, "whsec_another")).toBe(401)
      expect(await timesStored(event)).toBe(0)
      expect(await post({ hello: "world" })).toBe(400)
    })
    it("accepts the largest event, and rejects a larger body in the verifier's form", async () => {
      const largest = sampleEvent("outreach.recipients_published")
      // Spaces are part of the signed bytes.
      expect(await post(JSON.stringify(largest).padEnd(MAX_EVENT_BYTES))).toBe(200)
      expect(await timesStored(largest)).toBe(1)
      const larger = sampleEvent("outreach.email_sent")
      const { status, text } = await send(JSON.stringify(larger).padEnd(1_100_000))
      // SvelteKit's server aborts bodies of more than 512 KB.
      const rejection = name === "sveltekit" ? [500, { error: "broken_body" }] : [413, { error: "body_too_large" }]
      expect([status, JSON.parse(text)]).toEqual(rejection)
      expect(await timesStored(larger)).toBe(0)
      await vi.waitFor(() => expect(server.printed()).toMatch(/WebhookVerificationError\]?: The body/))
    })
    it("returns 500 while it can't store, and stores the event when it comes again", async () => {
      const event = sampleEvent("outreach.email_opened")
      const file = eventsIn(server.project)
      const kept = await readFile(file)
      await rm(file)
      await mkdir(file)
      expect(await post(event)).toBe(500)
      await rm(file, { recursive: true })
      await writeFile(file, kept)
      expect(await post(event)).toBe(200)
      expect(await timesStored(event)).toBe(1)
    })
  },
)
