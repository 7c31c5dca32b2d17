import { decide, decideCount, fixedWindow, type RateLimitState } from "@outreach/rate-limit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const policy = fixedWindow({ limit: 100 })

describe("a fixed window", () => {
  it("is the clock minute by default", () => {
    expect(decideCount(policy, 0, 1_780_000_039_500)).toMatchObject({ reset: 1_780_000_080, resetAfter: 41 })
  })
  it("always contains the current time, and resets at a multiple of its length", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e9 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.integer({ min: 1, max: 86_400 }),
        (seconds, fraction, windowSeconds) => {
          const now = seconds + fraction
          const { reset } = decideCount(fixedWindow({ limit: 1, windowSeconds }), 0, now * 1000)
          expect(reset).toBeGreaterThan(now)
          expect(reset - windowSeconds).toBeLessThanOrEqual(now)
          expect(reset % windowSeconds).toBe(0)
        },
      ),
    )
  })
  it("keeps the last instant before a boundary in the old window, at any length", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4e6 }), fc.integer({ min: 1, max: 1_000 }), (index, windowSeconds) => {
        const boundary = index * windowSeconds * 1000
        const before = boundary - boundary * Number.EPSILON
        expect(before).toBeLessThan(boundary)
        expect(decideCount(fixedWindow({ limit: 1, windowSeconds }), 0, before).reset).toBe(boundary / 1000)
      }),
    )
  })
  it("admits its limit again from the first instant of the next window", () => {
    let state: RateLimitState | undefined
    const take = (now: number, cost: number) => {
      const taken = decide(policy, state, { now, cost })
      state = taken.state
      return taken.decision
    }
    expect(take(59_900, 100)).toMatchObject({ allowed: true, remaining: 0 })
    expect(take(59_999, 1)).toMatchObject({ allowed: false, retryAfter: 1 })
    expect(take(60_000, 100)).toMatchObject({ allowed: true, remaining: 0 })
  })
  it("rejects invalid options, and names the invalid option", () => {
    for (const wrong of [0, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e16, "5" as unknown as number]) {
      expect(() => fixedWindow({ limit: wrong })).toThrow(/^limit must be a whole number from 1/)
      expect(() => fixedWindow({ limit: 1, windowSeconds: wrong })).toThrow(
        /^windowSeconds must be a whole number from 1/,
      )
    }
    expect(() => fixedWindow({ limit: 1, windowSeconds: 1e14 })).toThrow("limit is too large for such a time")
    expect(() => fixedWindow({ limit: 1, name: 'a"' })).toThrow("name must be of letters, digits, and _ . -")
    expect(() => fixedWindow({ limit: 1, name: "" })).toThrow(RangeError)
  })
})

describe("decideCount", () => {
  it("counts down to zero on the last admitted request", () => {
    expect(decideCount(policy, 1, 30_000)).toEqual({
      allowed: true,
      limit: 100,
      remaining: 99,
      reset: 60,
      fullAt: 60_000,
      resetAfter: 30,
      retryAfter: null,
      counted: true,
      policy,
    })
    expect(decideCount(policy, 100, 30_000).remaining).toBe(0)
    expect(decideCount(policy, 150, 30_000).remaining).toBe(0)
  })
  it("rounds the wait up to at least one second", () => {
    expect(decideCount(policy, 101, 30_200)).toMatchObject({ allowed: false, remaining: 0, reset: 60, retryAfter: 30 })
    expect(decideCount(policy, 101, 59_999.9).retryAfter).toBe(1)
  })
  it("never lets a caller that waits retryAfter land in the same window", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 4e12, noNaN: true }), fc.integer({ min: 101, max: 1e9 }), (now, count) => {
        const { retryAfter, reset } = decideCount(policy, count, now)
        expect(retryAfter).toBeGreaterThanOrEqual(1)
        expect(decideCount(policy, 1, now + retryAfter! * 1000).reset).toBe(reset + 60)
      }),
    )
  })
  it("rejects an invalid count or time", () => {
    expect(() => decideCount(policy, -1, 0)).toThrow(/^count must be a whole number from 0/)
    expect(() => decideCount(policy, 1.5, 0)).toThrow(RangeError)
    for (const now of [Number.NaN, Number.POSITIVE_INFINITY, 1e300, -1]) {
      expect(() => decideCount(policy, 0, now)).toThrow("now must be Unix milliseconds, as Date.now() gives them")
    }
  })
})
