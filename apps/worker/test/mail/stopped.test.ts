import { EventEmitter, once } from "node:events"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { value } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, launch } = journey()

it("a worker that stops returns the messages that it hasn't begun, and another worker sends them at once", async () => {
  const steps = new EventEmitter()
  const accepted = once(steps, "accepted")
  const slow = await mailServer({ accepting: async () => void (await accepted) })
  await launch(await partner(), 40)
  const first = await runWorker(url(), { SMTP_URL: slow.url, DRAIN_SECONDS: "60" })
  await until(slow, ({ messages }) => messages.length === 16)
  const stopped = first.stop()
  const unleased = () =>
    run(value<number>`select count(*)::int from messages where lease_token is null and attempts = 0`)
  await eventually(unleased, (count) => count === 24)
  const fast = await mailServer()
  await runWorker(url(), { SMTP_URL: fast.url })
  await until(fast, ({ messages }) => messages.length === 24)
  steps.emit("accepted")
  await stopped
  expect(new Set([...slow.messages, ...fast.messages].map(({ to }) => to[0])).size).toBe(40)
})
