import { startProcess } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { sampleEvent, signWebhook } from "@outreach/webhook-verifier/testing"
import { expect, it, onTestFinished, vi } from "vitest"

const SECRET = "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r"

it.each(["express", "fastify", "hono", "node"])(
  "the receiver in receivers/%s.ts handles a signed event once, and rejects a wrong signature",
  async (name) => {
    const receiver = startProcess(import.meta.resolve(`../receivers/${name}.ts`), { PORT: "0", WEBHOOK_SECRET: SECRET })
    const port = await until(receiver, ({ text }) => /listening on[^}]*port: (\d+)/.exec(text)?.[1])
    const post = async (event: object, secret = SECRET) => {
      const { headers, body } = await signWebhook(event, [secret])
      const options = { method: "POST", headers: { ...headers }, body }
      return (await fetch(`http://localhost:${port}/webhooks`, options)).status
    }

    const forged = sampleEvent("outreach.email_clicked")
    expect(await post(forged, "whsec_another")).toBe(401)
    await until(receiver, ({ text, errors }) => (text + errors).includes("no_match"))
    const event = sampleEvent("outreach.email_clicked")
    expect(await post(event)).toBe(200)
    expect(await post(event)).toBe(200)
    const next = sampleEvent("outreach.email_sent")
    expect(await post(next)).toBe(200)
    await until(receiver, ({ text }) => text.includes(`outreach.email_sent ${next.event_id}`))
    expect(receiver.text.split(`outreach.email_clicked ${event.event_id}`)).toHaveLength(2)
    expect(receiver.text).not.toContain(forged.event_id)
  },
)

it("the receiver in receivers/lambda.ts handles a signed event, and rejects a wrong signature", async () => {
  vi.stubEnv("WEBHOOK_SECRET", SECRET)
  const log = vi.spyOn(console, "log").mockReturnValue()
  vi.spyOn(console, "error").mockReturnValue()
  onTestFinished(() => void vi.restoreAllMocks())
  const { handler } = await import("../receivers/lambda.ts")
  const event = sampleEvent("outreach.email_clicked")
  const statusOf = async (secret: string) => (await handler(await signWebhook(event, [secret]))).statusCode
  expect([await statusOf("whsec_another"), await statusOf(SECRET)]).toEqual([401, 200])
  expect(log.mock.calls).toEqual([["outreach.email_clicked", event.event_id]])
})
