import { expect, it } from "@effect/vitest"
import { type ComplaintLevel, complaintLevel, shareOfSent } from "../../src/campaigns/Campaign.ts"

it.each<[ComplaintLevel, number, number]>([
  ["low", 0, 0],
  ["low", 3, 0],
  ["low", 0, 10],
  ["few", 1, 1],
  ["few", 2, 10],
  ["high", 3, 10],
  ["high", 3, 1000],
  ["raised", 3, 1001],
  ["raised", 3, 3000],
  ["low", 3, 3001],
  ["raised", 299, 100_000],
  ["high", 300, 100_000],
  ["high", 6_000_000, 2_000_000_000],
])("complaintLevel is %s for %i complaints about %i messages", (level, complained, sent) => {
  expect(complaintLevel({ complained, sent })).toBe(level)
})

it("shareOfSent is null until messages are sent", () => {
  expect(shareOfSent(0, { sent: 0 })).toBeNull()
  expect(shareOfSent(1, { sent: 4 })).toBe(0.25)
})
