import type { ChildProcess } from "node:child_process"
import { describe, expect, it } from "@effect/vitest"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { holdingPartner } from "./holdingPartner.ts"
import { journey } from "./journey.ts"
import { startWorker } from "./startWorker.ts"

const { url, launch, deliveries } = journey()

const start = (settings?: Record<string, string>) => startWorker(url(), settings)

const stop = async ({ child, ended }: { child: ChildProcess; ended: Promise<number | null> }) => {
  child.kill("SIGTERM")
  return await ended
}

describe("the worker's process", () => {
  it("carries a campaign through, and logs neither addresses nor secrets", async () => {
    const to = await partner()
    const mail = await mailServer()
    const { secret: _, ...seeded } = await launch(to, 2)
    const worker = await start({ SMTP_URL: mail.url })
    const received = await eventually(
      () => to.received,
      ({ length }) => length === 3,
    )
    expect(received.map(({ event }) => event.event_type)).toEqual([
      "outreach.recipients_published",
      "outreach.email_sent",
      "outreach.email_sent",
    ])
    await eventually(
      () => deliveries(seeded.endpoint.id),
      (all) => all.every(({ state }) => state === "delivered"),
    )
    expect(await stop(worker)).toBe(0)
    const lines = worker.text.trim().split("\n")
    expect(lines.map((line) => JSON.parse(line).message)).toContain("delivery attempted")
    expect(worker.errors).toBe("")
    expect(worker.text).not.toMatch(/clinic\.test|whsec_|v1=|"npi"/)
  })

  it("finishes what is in flight when it is told to stop, and exits with 0", async () => {
    const { to, receives, answer } = await holdingPartner()
    const { endpoint } = await launch(to, 1)
    const worker = await start()
    await receives(1)
    worker.child.kill("SIGTERM")
    // The log says when the signal has been heard; only then does the partner answer.
    await eventually(
      () => worker.text.includes('"stopping"'),
      (heard) => heard,
    )
    answer()
    expect(await worker.ended).toBe(0)
    expect(await deliveries(endpoint.id)).toMatchObject([{ state: "delivered", attempts: 1 }])
  })

  it("leaves what does not finish in time to the next worker, and still exits with 0", async () => {
    const { to, receives } = await holdingPartner()
    const { endpoint } = await launch(to, 1)
    const worker = await start({ DRAIN_SECONDS: "0" })
    await receives(1)
    expect(await stop(worker)).toBe(0)
    expect(await deliveries(endpoint.id)).toMatchObject([{ state: "sending", attempts: 0 }])
    await start()
    await receives(2)
    expect(to.received.map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  it("stops before it sends anything when SECRETS_KEY does not open a secret that is stored", async () => {
    const to = await partner()
    const mail = await mailServer()
    await launch(to, 1)
    const worker = await start({ SMTP_URL: mail.url, SECRETS_KEY: Buffer.alloc(32, 9).toString("base64") })
    expect(await worker.ended).toBe(1)
    expect(worker.errors).toMatch(
      /^SECRETS_KEY does not open the signing secrets that are stored; set it to [^\n]+\.\n$/,
    )
    expect([to.received, mail.messages]).toEqual([[], []])
  })

  it("stops at once with a sentence that names a missing setting", async () => {
    const worker = await start({ SMTP_URL: "" })
    expect(await worker.ended).toBe(1)
    expect(worker.errors).toBe("SMTP_URL is not set. It must be an smtp:// or smtps:// address.\n")
  })
})
