import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fromUnixMillis, Timestamp, toUnixMillis } from "../src/Timestamp.ts"

const millis = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) })

describe("Timestamp", () => {
  it("carries six digits of the second", () => {
    expect(fromUnixMillis(Date.UTC(2026, 10, 21, 2, 45, 29, 123))).toBe("2026-11-21T02:45:29.123000Z")
  })

  it("comes back as the same milliseconds", () => {
    fc.assert(
      fc.property(millis, (value) => {
        expect(toUnixMillis(fromUnixMillis(value))).toBe(value)
      }),
    )
  })

  it("loses only the microseconds on the way to milliseconds", () => {
    expect(toUnixMillis(Timestamp.make("2026-11-21T02:45:29.123999Z"))).toBe(Date.UTC(2026, 10, 21, 2, 45, 29, 123))
  })

  it("compares as text the way instants compare", () => {
    fc.assert(
      fc.property(millis, millis, (a, b) => {
        expect(fromUnixMillis(a) < fromUnixMillis(b)).toBe(a < b)
      }),
    )
  })
})
