import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { fromUnixMillis, orAgo, PastInstant, Timestamp, toUnixMillis } from "../src/Timestamp.ts"
import { parseInput } from "../src/textSchema.ts"

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

describe("a time before now", () => {
  const parse = parseInput(orAgo(PastInstant))

  it.each([
    ["-90m", 90],
    ["-24h", 24 * 60],
    ["-7d", 7 * 24 * 60],
  ])("%s is relative to the time of each parsing", (text, minutes) => {
    const [before, parsed, after] = [Date.now(), Result.getOrThrow(parse(text)), Date.now()]
    expect(toUnixMillis(parsed) + minutes * 60_000).toBeGreaterThanOrEqual(before)
    expect(toUnixMillis(parsed) + minutes * 60_000).toBeLessThanOrEqual(after)
  })

  it("can also be given as an instant, and in no other form", () => {
    expect(parse("2026-11-01T09:00:00+01:00")).toEqual(Result.succeed("2026-11-01T08:00:00.000000Z"))
    for (const text of ["24h", "-24", "-1w", "--1h", "-99999d", "9999-01-01T00:00:00Z"]) {
      expect(Result.isFailure(parse(text))).toBe(true)
    }
  })
})
