import { wholeMilliseconds } from "./decide.ts"
import { assertWhole } from "./RateLimitPolicy.ts"
import type { RateLimitStore } from "./rateLimiter.ts"
import { type RateLimitState, spend } from "./spend.ts"

/** The clock and the bounds of a store in memory. */
export interface MemoryStoreOptions {
  /** The clock, in Unix milliseconds: `Date.now`. */
  readonly now: () => number
  /** How many keys are kept; a whole number from 2. Default 100,000. */
  readonly maxKeys?: number | undefined
}

/**
 * Creates a store in this process's memory: for one process, and until it ends.
 *
 * When it is full, the key that was quiet for longest goes: one that has used more than half of its limit only where more than half of all
 * keys have, and another only where they have not. So nobody is forgotten without `maxKeys / 2` others that did as much.
 */
export function memoryStore({ now, maxKeys = 100_000 }: MemoryStoreOptions): RateLimitStore {
  assertWhole("maxKeys", maxKeys, 2)
  // By the order of their last requests.
  const light = new Map<string, RateLimitState>()
  const heavy = new Map<string, RateLimitState>()
  return {
    spend(key, units, policy) {
      const spent = spend(policy, heavy.get(key) ?? light.get(key), units, wholeMilliseconds(now()))
      heavy.delete(key)
      light.delete(key)
      const { used, at } = spent
      if (used > 0) (used * 2 > policy.limit * policy.unit ? heavy : light).set(key, { used, at })
      if (heavy.size + light.size > maxKeys) {
        const fuller = heavy.size * 2 > maxKeys ? heavy : light
        fuller.delete(fuller.keys().next().value!)
      }
      return spent
    },
  }
}
