import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseDuration } from "../src/duration.ts"

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["10m", 600_000],
    ["6h", 21_600_000],
    ["14d", 1_209_600_000],
    ["0s", 0],
    ["366d", 31_622_400_000],
    [1500, 1500],
    [0.5, 0.5],
  ])("reads %j as %d milliseconds", (duration, milliseconds) => {
    expect(parseDuration(duration)).toBe(milliseconds)
  })

  it.each([
    ...["", "30", "s", " 30s", "30 s", "30S", "-30s", "1.5h", "1e3s", "367d", "constructor", "1constructor"],
    `${"9".repeat(400)}s`,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    367 * 86_400_000,
    null,
    undefined,
    {},
    30n,
  ])("refuses %s", (duration) => {
    expect(() => parseDuration(duration as string)).toThrow(RangeError)
  })

  it("names the setting and the value, but shortens a long value", () => {
    expect(() => parseDuration("soon", "deadline")).toThrow(
      'deadline, "soon", is not a whole number of ms, s, m, h or d, such as 30s, up to 366d',
    )
    expect(() => parseDuration("9".repeat(50))).toThrow(`duration, "${"9".repeat(20)}", is not`)
  })

  it("returns milliseconds within the bounds for any text, or throws RangeError", () => {
    const nearly = fc.string({ unit: fc.constantFrom(..."0123456789smhd .-".split("")), maxLength: 20 })
    fc.assert(
      fc.property(fc.oneof(fc.string(), nearly), (text) => {
        try {
          const milliseconds = parseDuration(text)
          expect(Number.isSafeInteger(milliseconds)).toBe(true)
          expect([milliseconds >= 0, milliseconds <= 366 * 86_400_000]).toEqual([true, true])
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})
