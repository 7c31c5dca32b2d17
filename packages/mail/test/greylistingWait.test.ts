import { softRetryDelay } from "@outreach/domain/mail/Outreach"
import fc from "fast-check"
import { expect, it } from "vitest"
import { classifySmtpReply } from "../src/classifySmtpReply.ts"
import replies from "./data/greylistingReplies.json" with { type: "json" }

it.each(replies.map(({ reply, waits }) => [reply, waits] as const))(
  "reads how long %s asks to wait",
  (reply, waits) => {
    const outcome = classifySmtpReply({ code: Number(reply.slice(0, 3)), text: reply, at: "RCPT TO" })
    expect(outcome).toEqual({ _tag: "Deferred", ...(waits !== null && { greylistedSeconds: waits }) })
  },
)

it("reads any wait that is named in seconds, minutes or hours, up to four hours", () => {
  const unit = fc.constantFrom(["seconds", 1], ["second", 1], ["s", 1], ["minutes", 60], ["min", 60], ["hours", 3600])
  const property = fc.property(fc.integer({ min: 1, max: 14_400 }), unit, (count, [name, seconds]) => {
    const text = `451 4.7.1 Greylisted, try again in ${count} ${name}`
    const wait = count * Number(seconds)
    expect(classifySmtpReply({ code: 451, text, at: "RCPT TO" })).toEqual({
      _tag: "Deferred",
      greylistedSeconds: wait > 14_400 ? 300 : wait,
    })
  })
  fc.assert(property)
})

it("the retry delay is longer than the requested greylisting wait, until the attempts end", () => {
  const property = fc.property(
    fc.integer({ min: 1, max: 8 }),
    fc.integer({ min: 1, max: 14_400 }),
    (attempt, asked) => {
      const delay = softRetryDelay(attempt, asked)!
      expect(delay).toBeGreaterThan(asked)
      if (attempt > 1) expect(delay).toBeGreaterThanOrEqual(softRetryDelay(attempt)!)
    },
  )
  fc.assert(property)
  expect([softRetryDelay(1), softRetryDelay(1, 300), softRetryDelay(9), softRetryDelay(9, 300)]).toEqual([
    60,
    301,
    undefined,
    undefined,
  ])
})
