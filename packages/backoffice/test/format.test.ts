import { expect, it } from "vitest"
import { formatCapped } from "../src/format.ts"

it.each([
  [0, "0"],
  [9_999, "9,999"],
  [10_000, "10,000 or more"],
])("formatCapped formats %i, which was counted up to 10,000", (count, text) => {
  expect(formatCapped(count, 10_000)).toBe(text)
})
