import { decide, fixedWindow, type RateLimitPolicy, type RateLimitState, tokenBucket } from "@outreach/rate-limit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const policies: readonly (readonly [string, RateLimitPolicy])[] = [
  ["a fixed window", fixedWindow({ limit: 10, windowSeconds: 10 })],
  ["a token bucket", tokenBucket({ capacity: 10, refill: "1 per second" })],
]

describe.each(policies)("%s and clocks", (_, policy) => {
  it("admits no more than the limit if clocks differ by up to a window, in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10_000 }), { minLength: 11, maxLength: 60 }), (lags) => {
        let state: RateLimitState | undefined = decide(policy, undefined, { now: 1_009_999, cost: 1 }).state
        let allowed = 1
        for (const lag of lags) {
          const taken = decide(policy, state, { now: 1_009_999 - lag })
          state = taken.state
          if (taken.decision.allowed) allowed += 1
        }
        expect(allowed).toBe(10)
      }),
    )
  })
  it("returns the correct wait to a process with a lagging clock", () => {
    const { state } = decide(policy, undefined, { now: 1010000, cost: 10 })
    const { decision } = decide(policy, state, { now: 1005000, cost: 10 })
    expect(decision).toMatchObject({ allowed: false, retryAfter: 15, reset: 1020, resetAfter: 15 })
  })
  it("takes a lag of exactly a window for a lag, and one millisecond more for a clock that was set back", () => {
    const { state } = decide(policy, undefined, { now: 1_010_000, cost: 10 })
    const wait = (now: number) => decide(policy, state, { now, cost: 10 }).decision.retryAfter
    expect(wait(1_000_000)).toBe(20)
    expect(wait(999_999)).toBeLessThanOrEqual(10)
  })
  it("keeps the usage if the clock is set back further, and continues from the new time", () => {
    const { state } = decide(policy, undefined, { now: 5000000, cost: 10 })
    const back = decide(policy, state, { now: 1000000 })
    expect(back.decision).toMatchObject({ allowed: false, remaining: 0 })
    expect(back.decision.retryAfter).toBeLessThanOrEqual(10)
    expect(decide(policy, back.state, { now: 1010000, cost: 10 }).decision.allowed).toBe(true)
  })
  it("admits its limit after a jump forward by any time", () => {
    const { state } = decide(policy, undefined, { now: 0, cost: 10 })
    for (const now of [10_000, 11_000, 1e8, 8e15]) {
      expect(decide(policy, state, { now, cost: 10 }).decision).toMatchObject({ allowed: true, remaining: 0 })
    }
  })
})
