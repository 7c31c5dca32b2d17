import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import { describe, expect, it, vi } from "vitest"

const SECRET = "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r"
const WAIT = { timeout: 60_000 }

describe.each(["express", "fastify", "hono", "node"])("the receiver in receivers/%s.ts", (name) => {
  const start = async () => {
    const receiver = await startExample(`receivers/${name}.ts`, { WEBHOOK_SECRET: SECRET })
    const post = async (event: object, secret = SECRET) => {
      const { headers, body } = await signWebhook(event, [secret])
      return (await fetch(`${receiver.url}/webhooks`, { method: "POST", headers: { ...headers }, body })).status
    }
    return { ...receiver, post }
  }

  it("handles a signed event once, however often it comes", async () => {
    await using receiver = await start()
    const event = sampleEvent("outreach.email_clicked")
    expect(await receiver.post(event)).toBe(200)
    expect(await receiver.post(event)).toBe(200)
    const next = sampleEvent("outreach.email_sent")
    expect(await receiver.post(next)).toBe(200)
    await vi.waitFor(() => expect(receiver.output()).toContain(`outreach.email_sent ${next.event_id}`), WAIT)
    expect(receiver.output().split(`outreach.email_clicked ${event.event_id}`)).toHaveLength(2)
  })
  it("refuses an event with a wrong signature", async () => {
    await using receiver = await start()
    const event = sampleEvent("outreach.email_clicked")
    expect(await receiver.post(event, "whsec_another")).toBe(401)
    await vi.waitFor(() => expect(receiver.output()).toContain("no_match"), WAIT)
    expect(receiver.output()).not.toContain(event.event_id)
  })
})

/** An example that listens, as a process of its own. */
interface RunningExample extends AsyncDisposable {
  readonly url: string
  /** Everything that it has printed so far. */
  readonly output: () => string
}

/** Starts an example on a free port, and waits until it listens. Rejects when it ends before. */
async function startExample(file: string, settings: Readonly<Record<string, string>> = {}): Promise<RunningExample> {
  const example = spawn(process.execPath, [join(import.meta.dirname, "..", file)], {
    env: { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"], PORT: "0", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(example, "close")
  let printed = ""
  const port = await new Promise<string>((listening, failed) => {
    for (const stream of [example.stdout, example.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        printed += text
        const [, found] = /listening on[^}]*port: (\d+)/.exec(printed) ?? []
        if (found !== undefined) listening(found)
      })
    }
    ended.then(() => failed(new Error(`${file} ended before it listened:\n${printed}`)), failed)
  })
  return {
    url: `http://localhost:${port}`,
    output: () => printed,
    [Symbol.asyncDispose]: async () => {
      example.kill()
      await ended
    },
  }
}
