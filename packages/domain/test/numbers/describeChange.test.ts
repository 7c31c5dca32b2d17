import { describeChange } from "@outreach/domain/numbers/describeChange"
import { expect, it } from "vitest"

it.each([
  [1200, 1070, "up", "+12 %"],
  [1070, 1200, "down", "−11 %"],
  [0, 20, "down", "−100 %"],
  [1000, 20, "up", "+4,900 %"],
  [10_001, 10_000, "up", "under 1 %"],
  [5, 5, "none", "no change"],
])("says that %i after %i went %s: %s", (count, before, direction, text) => {
  expect(describeChange(count, before)).toEqual({ direction, text })
})

it.each([
  [7, 4, "up", "+3"],
  [0, 19, "down", "−19"],
  [3000, 0, "up", "+3,000"],
  [1, -2, "up", "+3"],
  [-2, 1, "down", "−3"],
])("gives no percentage of few: %i after %i went %s, %s", (count, before, direction, text) => {
  expect(describeChange(count, before)).toEqual({ direction, text })
})
