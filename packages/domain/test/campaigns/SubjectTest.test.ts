import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { assignSubject, checkSubjectTest, chooseSubject, decisionTime } from "../../src/campaigns/SubjectTest.ts"
import type { CampaignId, RecipientId } from "../../src/Identifier.ts"
import type { TestSubject } from "../../src/mail/Message.ts"
import { fromUnixMillis, toUnixMillis } from "../../src/Timestamp.ts"

/** The id of the n-th of many recipients who were imported in one millisecond. */
const recipientId = (n: number) => `rcp_01939e4a1f2d7${n.toString(16).padStart(19, "0")}` as RecipientId
const campaignId = `cmp_${"0".repeat(32)}` as CampaignId
const undecided = (share: number) => ({ share, winner: null })

describe("assignSubject", () => {
  it("assigns these recipients as every release before", () => {
    const assigned = Array.from({ length: 12 }, (_, n) => assignSubject(undecided(50), campaignId, recipientId(n)))
    expect(assigned.map(({ testSubject }) => testSubject ?? "-").join("")).toBe("b-a-aba-a-bb")
    expect(assigned.filter(({ testSubject, waits }) => waits !== (testSubject === null))).toEqual([])
  })
})

describe("chooseSubject", () => {
  const counts = fc.nat(100_000).chain((sent) => fc.record({ sent: fc.constant(sent), clicked: fc.nat(sent) }))
  const rate = ({ sent, clicked }: { sent: number; clicked: number }) => (sent === 0 ? 0 : clicked / sent)

  it("chooses the subject with more clicks per message, and A in a tie", () => {
    fc.assert(
      fc.property(counts, counts, (a, b) => {
        const expected: TestSubject = rate(b) > rate(a) ? "b" : "a"
        expect(chooseSubject({ a, b })).toBe(expected)
      }),
    )
  })
})

describe("decisionTime", () => {
  const at = (hours: number) => fromUnixMillis(Date.UTC(2026, 11, 1) + hours * 3_600_000)

  it("is always within the window, and never later than was asked for", () => {
    const hours = fc.double({ min: 0, max: 1000, noNaN: true })
    fc.assert(
      fc.property(hours, hours, fc.integer({ min: 1, max: 1_000_000 }), (begin, length, afterSeconds) => {
        const [beganAt, windowEnd] = [at(begin), at(begin + length + 0.001)]
        const time = decisionTime({ beganAt, afterSeconds, windowEnd })
        expect(time).toBeGreaterThan(toUnixMillis(beganAt))
        expect(time).toBeLessThan(toUnixMillis(windowEnd))
        expect(time).toBeLessThanOrEqual(toUnixMillis(beganAt) + afterSeconds * 1000)
      }),
    )
  })
})

describe("checkSubjectTest", () => {
  const campaign = {
    subject: "One",
    windowStart: fromUnixMillis(0),
    windowEnd: fromUnixMillis(4 * 3_600_000),
  }
  const check = (test: { subjectB?: string; share?: number; afterSeconds?: number | null }) =>
    checkSubjectTest({ subjectB: "Two", share: 20, afterSeconds: 3600, ...test }, campaign)

  it.each([
    ["the same subject twice", { subjectB: "One" }, /same/],
    ["a share of 0", { share: 0 }, /1 to 100/],
    ["a share above 100", { share: 101, afterSeconds: null }, /1 to 100/],
    ["half a per cent", { share: 0.5 }, /whole number/],
    ["a winner without a time", { afterSeconds: null }, /after which time/],
    ["a time as long as the window", { afterSeconds: 4 * 3600 }, /when the send window is over/],
    ["a time for a comparison without a winner", { share: 100 }, /nobody waits/],
  ])("refuses %s", (_, test, reason) => {
    expect(check(test)).toMatch(reason)
  })
})
