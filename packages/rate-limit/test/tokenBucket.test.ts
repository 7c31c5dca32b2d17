import { decide, type RateLimitPolicy, type RateLimitState, type Refill, tokenBucket } from "@outreach/rate-limit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

/** Returns a function that takes from one key of a policy, at a time in seconds, or in what `unitMs` says. */
function oneKey(policy: RateLimitPolicy, unitMs = 1000) {
  let state: RateLimitState | undefined
  return (time: number, cost = 1) => {
    const taken = decide(policy, state, { now: time * unitMs, cost })
    state = taken.state
    return taken.decision
  }
}

const refills = fc
  .record({
    tokens: fc.integer({ min: 1, max: 5000 }),
    times: fc.integer({ min: 1, max: 60 }),
    unit: fc.constantFrom("second", "minute", "hour", "day"),
  })
  .map(({ tokens, times, unit }) => ({
    refill: `${tokens} per ${times} ${unit}s` as Refill,
    tokens: BigInt(tokens),
    time: BigInt(times * { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }[unit]!),
  }))

describe("a token bucket", () => {
  it("admits a burst of its capacity, and then as many as come in", () => {
    const take = oneKey(tokenBucket({ capacity: 10, refill: "2 per second" }))
    for (let left = 9; left >= 0; left--) expect(take(100)).toMatchObject({ allowed: true, remaining: left })
    expect(take(100)).toMatchObject({ allowed: false, remaining: 0, retryAfter: 1, reset: 105, resetAfter: 5 })
    expect(take(100.499).allowed).toBe(false)
    expect(take(100.5).allowed).toBe(true)
    expect(take(100.5).allowed).toBe(false)
    expect(take(200)).toMatchObject({ allowed: true, remaining: 9, reset: 201 })
  })
  it("takes refills over several units of time, in the singular or the plural", () => {
    const windows = ["1 per second", "60 per minute", "1 per 1 seconds", "86400 per day", "900 per 15 minutes"] as const
    expect(windows.map((refill) => tokenBucket({ capacity: 5, refill }).windowMs)).toEqual([
      5000, 5000, 5000, 5000, 5000,
    ])
  })
  it("returns the wait for a cost of several tokens", () => {
    const take = oneKey(tokenBucket({ capacity: 10, refill: "1 per second" }))
    expect(take(0, 8)).toMatchObject({ allowed: true, remaining: 2 })
    expect(take(0, 5)).toMatchObject({ allowed: false, remaining: 2, retryAfter: 3 })
    expect(take(3, 5).allowed).toBe(true)
  })
  it("never admits a cost above its capacity, and returns no wait for it", () => {
    const take = oneKey(tokenBucket({ capacity: 10, refill: "1 per second" }))
    for (const cost of [11, 1e15 - 1])
      expect(take(0, cost)).toMatchObject({ allowed: false, remaining: 10, retryAfter: null })
    expect(take(0, 10).allowed).toBe(true)
  })
  it("matches an exact big-integer model, at any rate, cost and time", () => {
    fc.assert(
      fc.property(
        refills,
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.record({ wait: fc.integer({ min: 0, max: 100_000 }), cost: fc.integer({ min: 0, max: 1100 }) }), {
          maxLength: 40,
        }),
        ({ refill, tokens, time }, capacity, requests) => {
          const take = oneKey(tokenBucket({ capacity, refill }), 1)
          // In tokens times `time`, so that each millisecond brings `tokens`.
          const full = BigInt(capacity) * time
          let left = full
          let now = 1_780_000_000_000
          for (const { wait, cost } of requests) {
            now += wait
            left += BigInt(wait) * tokens
            if (left > full) left = full
            const fits = BigInt(cost) * time <= left
            if (fits) left -= BigInt(cost) * time
            const { allowed, remaining } = take(now, cost)
            expect([allowed, BigInt(remaining)]).toEqual([fits, left / time])
          }
        },
      ),
    )
  })
  it("admits a request that waited for retryAfter", () => {
    fc.assert(
      fc.property(
        refills,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 100 }),
        ({ refill }, capacity, more) => {
          const take = oneKey(tokenBucket({ capacity, refill }))
          const cost = Math.min(capacity, more)
          take(1000, capacity)
          const refused = take(1000.25, cost)
          if (refused.allowed) return
          expect(take(1000.25 + refused.retryAfter!, cost).allowed).toBe(true)
        },
      ),
    )
  })
  it("rejects invalid options, and names the invalid option", () => {
    for (const wrong of [
      ...["", "10", "0 per second", "1.5 per second", "1 per 0 seconds", "-1 per day", "1 per month", " 1 per day"],
    ]) {
      expect(() => tokenBucket({ capacity: 1, refill: wrong as Refill })).toThrow(
        'refill must be such as "10 per second" or "100 per 15 minutes"',
      )
    }
    expect(() => tokenBucket({ capacity: 0, refill: "1 per second" })).toThrow(
      /^capacity must be a whole number from 1/,
    )
    expect(() => tokenBucket({ capacity: 1e14, refill: "7 per day" })).toThrow(/^capacity is too large for such a time/)
    expect(() => tokenBucket({ capacity: 1, refill: `${10 ** 400}` as Refill })).toThrow(RangeError)
    expect(() => tokenBucket({ capacity: 1, refill: `${"9".repeat(400)} per day` as Refill })).toThrow(RangeError)
  })
})
