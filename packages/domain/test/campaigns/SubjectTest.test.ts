import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { assignSubject, chooseSubject } from "../../src/campaigns/SubjectTest.ts"
import type { CampaignId, RecipientId } from "../../src/Identifier.ts"
import type { TestSubject } from "../../src/mail/Message.ts"

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
