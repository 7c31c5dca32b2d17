import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { installProject, missingRegistry, packTarball, run, startServer } from "./exampleProject.ts"

/** What each project needs to be built; only SvelteKit asks for the server's variables, of which the server must read its own. */
const FRAMEWORKS = [
  { name: "nestjs", settings: {} },
  { name: "sveltekit", settings: { WEBHOOK_SECRET: "whsec_of_the_build" } },
  { name: "react-router", settings: {} },
  { name: "nextjs", settings: {} },
]
const SECRET = "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r"
/** The size of the service's largest event. */
const MAX_EVENT_BYTES = 65_536

let folder: string
let missing: string | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-frameworks-"))
  missing = await missingRegistry(folder)
  if (missing === undefined) await packTarball(folder, "webhook-verifier")
})
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))

describe.each(FRAMEWORKS)("the receiver in examples/$name, built and in production", ({ name, settings }) => {
  let eventsFile: string
  let server: Awaited<ReturnType<typeof startServer>> | undefined
  beforeAll(async () => {
    if (missing !== undefined) return
    const project = await installProject(folder, name)
    await run(project, ["npm", "run", "build"], settings)
    eventsFile = join(project, "events.jsonl")
    await writeFile(eventsFile, "")
    server = await startServer(project, { WEBHOOK_SECRET: SECRET, EVENTS_FILE: eventsFile })
  })
  afterAll(() => server?.stop())
  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing)
  })

  const post = async (event: object | string, secret = SECRET) => {
    const { headers, body } = await signWebhook(event, [secret])
    const response = await fetch(`${server?.url}/webhooks`, { method: "POST", headers: { ...headers }, body })
    await response.arrayBuffer()
    return response.status
  }
  /** How often the receiver stored an event. */
  const timesStored = async (eventId: string) =>
    (await readFile(eventsFile, "utf8")).split(`"event_id":"${eventId}"`).length - 1

  it("stores an event once, however often it comes", async () => {
    const event = sampleEvent("outreach.email_clicked")
    expect([await post(event), await post(event), await post(event)]).toEqual([200, 200, 200])
    expect(await timesStored(event.event_id)).toBe(1)
  })
  it("stores what needs all bytes to be kept", async () => {
    const event = { ...sampleEvent("outreach.email_sent"), metadata: { note: "Zoë — 診 🚀 \u2028" } }
    expect(await post(`${JSON.stringify(event, null, 2)}\n`)).toBe(200)
    expect(await timesStored(event.event_id)).toBe(1)
  })
  it("refuses an event with a wrong signature", async () => {
    const event = sampleEvent("outreach.email_clicked")
    expect(await post(event, "whsec_another")).toBe(401)
    expect(await timesStored(event.event_id)).toBe(0)
  })
  it("refuses a signed body that is not an event", async () => {
    expect(await post({ hello: "world" })).toBe(400)
  })
  it("takes the largest event, and answers in the verifier's form what no event can be", async () => {
    const largest = sampleEvent("outreach.recipients_published")
    expect(await post(paddedTo(MAX_EVENT_BYTES, largest))).toBe(200)
    expect(await timesStored(largest.event_id)).toBe(1)
    const larger = sampleEvent("outreach.email_sent")
    const { headers, body } = await signWebhook(paddedTo(1_100_000, larger), [SECRET])
    const response = await fetch(`${server?.url}/webhooks`, { method: "POST", headers: { ...headers }, body })
    // SvelteKit's server breaks a body of more than 512 KB off.
    const refused = name === "sveltekit" ? [500, { error: "broken_body" }] : [413, { error: "body_too_large" }]
    expect([response.status, await response.json()]).toEqual(refused)
    expect(await timesStored(larger.event_id)).toBe(0)
    await vi.waitFor(() => expect(server?.printed()).toMatch(/WebhookVerificationError\]?: The body/))
  })
  it("fails while it cannot store, and stores the event when it comes again", async () => {
    const event = sampleEvent("outreach.email_opened")
    const kept = await readFile(eventsFile)
    await rm(eventsFile)
    await mkdir(eventsFile)
    expect(await post(event)).toBe(500)
    await rm(eventsFile, { recursive: true })
    await writeFile(eventsFile, kept)
    expect(await post(event)).toBe(200)
    expect(await timesStored(event.event_id)).toBe(1)
  })
})

/** The body of an event, made as long as `bytes` by spaces, which are part of what is signed. */
const paddedTo = (bytes: number, event: object): string => JSON.stringify(event).padEnd(bytes)
