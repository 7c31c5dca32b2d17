import { describe, expect, it } from "vitest"
import { formatCapped } from "../src/format.ts"

describe("formatCapped", () => {
  it.each([
    [0, "0"],
    [9_999, "9,999"],
    [10_000, "10,000 or more"],
  ])("formats %i, which was counted up to 10,000", (count, text) => {
    expect(formatCapped(count, 10_000)).toBe(text)
  })
})
