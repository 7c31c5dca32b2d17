import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decide, windowAt } from "../src/fixedWindow.ts"

const policy = { limit: 100 }

describe("windowAt", () => {
  it("aligns a window to the start of the clock minute", () => {
    expect(windowAt(1_780_000_039.5)).toEqual({ start: 1_780_000_020, reset: 1_780_000_080 })
  })
  it("puts the first instant of a minute in the new window", () => {
    expect(windowAt(120)).toEqual({ start: 120, reset: 180 })
    expect(windowAt(119.999999)).toEqual({ start: 60, reset: 120 })
  })
  it("always holds the instant it was asked for, with a reset that is a multiple of the length", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e9 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 86_400 }),
        (seconds, fraction, length) => {
          const { start, reset } = windowAt(seconds + fraction, length)
          expect(start).toBeLessThanOrEqual(seconds + fraction)
          expect(reset).toBeGreaterThan(seconds + fraction)
          expect(reset % length).toBe(0)
          expect(reset - start).toBe(length)
        },
      ),
    )
  })
  it("keeps the last instant before a boundary in the old window, at any length", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4e6 }), fc.integer({ min: 1, max: 1_000 }), (index, length) => {
        const boundary = index * length
        const before = boundary - boundary * Number.EPSILON
        expect(before).toBeLessThan(boundary)
        expect(windowAt(before, length)).toEqual({ start: boundary - length, reset: boundary })
      }),
    )
  })
  it("refuses a time or a length that is not a number", () => {
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, 1e300]) {
      expect(() => windowAt(now)).toThrow("now must be Unix seconds")
    }
    expect(() => windowAt(0, 0)).toThrow("windowSeconds must be a positive integer")
    expect(() => windowAt(0, 1.5)).toThrow(RangeError)
  })
})

describe("decide", () => {
  it("admits exactly the limit in one window", () => {
    const admitted = Array.from({ length: 150 }, (_, i) => decide(i + 1, policy, 30)).filter((d) => d.allowed)
    expect(admitted).toHaveLength(100)
  })
  it("counts down to nothing left on the last admitted request", () => {
    expect(decide(1, policy, 30)).toEqual({ allowed: true, limit: 100, remaining: 99, reset: 60, retryAfter: null })
    expect(decide(100, policy, 30).remaining).toBe(0)
  })
  it("shows an untouched window for a count of zero", () => {
    expect(decide(0, policy, 30)).toMatchObject({ allowed: true, remaining: 100 })
  })
  it("rounds the wait up and never says less than one second", () => {
    expect(decide(101, policy, 30.2)).toEqual({ allowed: false, limit: 100, remaining: 0, reset: 60, retryAfter: 30 })
    expect(decide(101, policy, 59.9999).retryAfter).toBe(1)
  })
  it("never lets a caller that waits retryAfter land in the same window", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4e9, noNaN: true }), fc.integer({ min: 101, max: 1e9 }), (now, count) => {
        const refusal = decide(count, policy, now)
        expect(refusal.retryAfter).toBeGreaterThanOrEqual(1)
        expect(windowAt(now + refusal.retryAfter!).start).toBe(refusal.reset)
      }),
    )
  })
  it("refuses a count or a limit that is not a whole number", () => {
    expect(() => decide(-1, policy, 0)).toThrow(RangeError)
    expect(() => decide(1.5, policy, 0)).toThrow(RangeError)
    expect(() => decide(1, { limit: 0 }, 0)).toThrow("limit must be a positive integer")
  })
})
