import {
  decide,
  fixedWindow,
  type RateLimitDecision,
  type RateLimitPolicy,
  type RateLimitState,
  type RateLimitStore,
  type Refill,
  rateLimiter,
  spend,
  tokenBucket,
} from "@outreach/rate-limit"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

let keys = 0
export const newKey = (): string => {
  keys += 1
  return `key ${keys}`
}

// Windows are longer than a test runs, because Redis lets keys expire by its own clock.
const policies: fc.Arbitrary<RateLimitPolicy> = fc.oneof(
  fc
    .record({ limit: fc.integer({ min: 1, max: 20 }), windowSeconds: fc.integer({ min: 10, max: 1000 }) })
    .map((options) => fixedWindow(options)),
  fc
    .record({ capacity: fc.integer({ min: 1, max: 20 }), tokens: fc.integer({ min: 1, max: 50 }) })
    .map(({ capacity, tokens }) => tokenBucket({ capacity, refill: `${tokens} per 700 seconds` as Refill })),
)

const changes = fc.array(
  fc.record({
    // Mostly forward; back by less than a window, or by much more.
    step: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 200_000 }) },
      { weight: 2, arbitrary: fc.integer({ min: -30_000, max: 0 }) },
      { weight: 1, arbitrary: fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }) },
    ),
    method: fc.constantFrom("take", "take", "take", "penalty", "reward", "undo", "reset"),
    cost: fc.integer({ min: 0, max: 22 }),
  }),
  { minLength: 1, maxLength: 30 },
)

/** Describes what holds of every store; `open` creates one with a clock. */
export function describeStore(kind: string, open: (now: () => number) => RateLimitStore): void {
  describe(`a store in ${kind}`, () => {
    it("changes a key as the pure function does, for any policy, costs and times, also of clocks that are set back", async () => {
      await fc.assert(
        fc.asyncProperty(policies, changes, async (policy, steps) => {
          let now = 1_780_000_000_000
          let state: RateLimitState | undefined
          const pure: RateLimitStore = {
            spend: (_, change) => {
              const spent = spend(policy, state, change, now)
              state = spent
              return spent
            },
          }
          const key = newKey()
          const stores = [pure, open(() => now)]
          const limiters = stores.map((store) => rateLimiter(policy, store))
          let undo = decide(policy, undefined, { now }).decision
          for (const { step, method, cost } of steps) {
            now += step
            const [expected, decision] = (await Promise.all(
              limiters.map((limiter) => {
                if (method === "take") return limiter.take(key, { cost })
                return method === "undo" ? limiter.reward(key, cost, undo) : limiter[method](key, cost)
              }),
            )) as [RateLimitDecision, RateLimitDecision]
            expect(decision).toEqual(expected)
            expect(decision.remaining).toBeLessThanOrEqual(policy.limit)
            if (method === "take") undo = decision
          }
        }),
      )
    })
    it("takes back and gives back exactly, if it comes together", async () => {
      const store = open(() => 1_780_000_000_000)
      for (const policy of [fixedWindow({ limit: 20 }), tokenBucket({ capacity: 20, refill: "1 per second" })]) {
        const limiter = rateLimiter(policy, store)
        const key = newKey()
        const often = (change: () => Promise<RateLimitDecision>) => Promise.all(Array.from({ length: 15 }, change))
        await often(() => limiter.penalty(key))
        expect(await limiter.penalty(key, 0)).toMatchObject({ allowed: true, remaining: 5 })
        await often(() => limiter.reward(key))
        expect((await limiter.penalty(key, 3)).remaining).toBe(17)
      }
    })
    it("admits exactly the limit of requests that come together", async () => {
      const store = open(() => 1_780_000_000_000)
      for (const policy of [fixedWindow({ limit: 20 }), tokenBucket({ capacity: 20, refill: "1 per second" })]) {
        const limiter = rateLimiter(policy, store)
        const key = newKey()
        const all = await Promise.all(Array.from({ length: 50 }, () => limiter.take(key)))
        expect(all.filter(({ allowed }) => allowed)).toHaveLength(20)
      }
    })
    it("keeps keys apart, and the policies of one key", async () => {
      const store = open(() => 1_780_000_000_000)
      const key = newKey()
      const second = rateLimiter(fixedWindow({ name: `second-${key.slice(4)}`, limit: 1, windowSeconds: 1 }), store)
      const day = rateLimiter(fixedWindow({ name: `day-${key.slice(4)}`, limit: 1, windowSeconds: 86_400 }), store)
      for (const strange of [
        ...[key, "", "__proto__", "constructor", "{a}", "a:b"],
        "🚀".repeat(256),
        "'; drop table rate_limits",
      ]) {
        for (const limiter of [second, day]) {
          expect((await limiter.take(strange)).allowed).toBe(true)
          expect((await limiter.take(strange)).allowed).toBe(false)
        }
      }
    })
    it("takes the largest numbers that a policy may have", async () => {
      const policy = tokenBucket({ capacity: 900_000_000_000, refill: "7 per 10 seconds" })
      const limiter = rateLimiter(
        policy,
        open(() => 1_780_000_000_000),
      )
      const key = newKey()
      expect(await limiter.take(key, { cost: 899_999_999_999 })).toMatchObject({ allowed: true, remaining: 1 })
      expect(await limiter.take(key, { cost: 900_000_000_000 })).toMatchObject({ allowed: false, remaining: 1 })
    })
  })
}
