import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { assignSubject, checkSubjectTest, chooseSubject, decisionTime } from "../../src/campaigns/SubjectTest.ts"
import type { CampaignId, RecipientId } from "../../src/Identifier.ts"
import type { TestSubject } from "../../src/mail/Message.ts"
import { fromUnixMillis, toUnixMillis } from "../../src/Timestamp.ts"

const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 32, maxLength: 32 })
const campaignIds = hex.map((digits) => `cmp_${digits}` as CampaignId)
const recipientIds = hex.map((digits) => `rcp_${digits}` as RecipientId)
const shares = fc.integer({ min: 1, max: 100 })

/** The id of the n-th of many recipients who were imported in one millisecond. */
const recipientId = (n: number) => `rcp_01939e4a1f2d7${n.toString(16).padStart(19, "0")}` as RecipientId
const campaignId = `cmp_${"0".repeat(32)}` as CampaignId
const undecided = (share: number) => ({ share, winner: null })

const countSubjects = (share: number, recipients: number, campaign = campaignId) => {
  const counts = { a: 0, b: 0, others: 0 }
  for (let n = 0; n < recipients; n++) {
    counts[assignSubject(undecided(share), campaign, recipientId(n)).testSubject ?? "others"] += 1
  }
  return counts
}

describe("assignSubject", () => {
  it("assigns these recipients as every release before", () => {
    const assigned = Array.from({ length: 12 }, (_, n) => assignSubject(undecided(50), campaignId, recipientId(n)))
    expect(assigned.map(({ testSubject }) => testSubject ?? "-").join("")).toBe("b-a-aba-a-bb")
    expect(assigned.filter(({ testSubject, waits }) => waits !== (testSubject === null))).toEqual([])
  })

  it("lets nobody wait when the share is 100", () => {
    fc.assert(
      fc.property(campaignIds, recipientIds, (campaign, recipient) => {
        expect(assignSubject(undecided(100), campaign, recipient).testSubject).toMatch(/^[ab]$/)
      }),
    )
  })

  it("lets a recipient of the test group of a small share test the same subject, or none, in that of a smaller one", () => {
    fc.assert(
      fc.property(campaignIds, recipientIds, shares, shares, (campaign, recipient, one, other) => {
        const [less, more] = [Math.min(one, other), Math.max(one, other)]
        if (assignSubject(undecided(more), campaign, recipient).waits) {
          expect(assignSubject(undecided(less), campaign, recipient).waits).toBe(true)
        }
      }),
    )
  })

  it("gives each subject half of the share, within five standard deviations, though ids differ in the last digits alone", () => {
    const recipients = 20_000
    for (const share of [1, 10, 20, 33, 50, 100]) {
      const counts = countSubjects(share, recipients)
      const half = share / 200
      const tolerance = 5 * Math.sqrt(recipients * half * (1 - half))
      for (const subject of ["a", "b"] as const) {
        expect(Math.abs(counts[subject] - recipients * half)).toBeLessThan(tolerance)
      }
    }
  })

  it("draws another test group for another campaign", () => {
    const other = `cmp_${"0".repeat(31)}1` as CampaignId
    const both = Array.from({ length: 2000 }, (_, n) =>
      [campaignId, other].map((campaign) => assignSubject(undecided(50), campaign, recipientId(n)).waits),
    )
    const same = both.filter(([one, another]) => one === another).length
    expect(same).toBeGreaterThan(850)
    expect(same).toBeLessThan(1150)
  })

  it("gives the winner to whoever is published after the decision, and the only subject where there is no test", () => {
    fc.assert(
      fc.property(campaignIds, recipientIds, shares, (campaign, recipient, share) => {
        const atOnce = { testSubject: null, waits: false }
        expect(assignSubject({ share, winner: "b" }, campaign, recipient)).toEqual(atOnce)
        expect(assignSubject(undefined, campaign, recipient)).toEqual(atOnce)
      }),
    )
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

  it("is the given time after sending began", () => {
    const time = decisionTime({ beganAt: at(9), afterSeconds: 4 * 3600, windowEnd: at(17) })
    expect(fromUnixMillis(time)).toBe(at(13))
  })

  it("is in the middle of what is left of the window when the time does not fit into it any more", () => {
    const time = decisionTime({ beganAt: at(15), afterSeconds: 4 * 3600, windowEnd: at(17) })
    expect(fromUnixMillis(time)).toBe(at(16))
  })

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

  it("accepts a test that is decided within the window, and a comparison without a winner", () => {
    expect([check({}), check({ afterSeconds: 4 * 3600 - 1 }), check({ share: 100, afterSeconds: null })]).toEqual(
      Array(3).fill(undefined),
    )
  })
})
