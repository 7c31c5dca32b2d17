import { wholeMilliseconds } from "./decide.ts"
import { assertWhole } from "./RateLimitPolicy.ts"
import type { RateLimitStore } from "./rateLimiter.ts"
import { type RateLimitState, spend } from "./spend.ts"

/** The clock and the bounds of a store in memory. */
export interface MemoryStoreOptions {
  /** The clock, in Unix milliseconds: `Date.now`. */
  readonly now: () => number
  /** How many keys of each policy are kept; a whole number from 2. Default 100,000. */
  readonly maxKeys?: number | undefined
}

/**
 * Creates a store in this process's memory: for one process, and until it ends.
 *
 * When it is full, a key that was quiet for long goes: one that has used more than half of its limit only where more than half of all keys
 * have, and another only where they have not. So nobody is forgotten without `maxKeys / 2` others that did as much.
 */
export function memoryStore({ now, maxKeys = 100_000 }: MemoryStoreOptions): RateLimitStore {
  assertWhole("maxKeys", maxKeys, 2)
  const policies = new Map<string, readonly [light: HeldKeys, heavy: HeldKeys]>()
  let request = 0
  return {
    spend(key, units, policy) {
      const held = policies.get(policy.id) ?? ([new Map(), new Map()] as const)
      policies.set(policy.id, held)
      const [light, heavy] = held
      const state = light.get(key) ?? heavy.get(key)
      const spent = spend(policy, state, units, wholeMilliseconds(now()))
      request += 1
      const { used, at } = spent
      // A key is never deleted and set again for a request of its own: in V8, that slows down each look-up of it, until the map is rebuilt.
      if (state) Object.assign(state, { used, at, last: request })
      const isHeavy = used * 2 > policy.limit * policy.unit
      if (used === 0) light.delete(key) || heavy.delete(key)
      else if (state && isHeavy && light.delete(key)) heavy.set(key, state)
      else if (!state) (isHeavy ? heavy : light).set(key, { used, at, queued: request, last: request })
      if (light.size + heavy.size > maxKeys) forgetOne(heavy.size * 2 > maxKeys ? heavy : light)
      return spent
    },
  }
}

/** Keys in the order in which they are forgotten. */
type HeldKeys = Map<string, HeldKey>
interface HeldKey extends RateLimitState {
  /** The number of its last request, and of the one that was its last when it was put at the end of the order. */
  last: number
  queued: number
}

const MAX_LOOKS = 100

/** Forgets the first key that made no request since it was put at the end of the order; the others are put there again. The newest stays. */
function forgetOne(keys: HeldKeys): void {
  const looks = Math.min(MAX_LOOKS, keys.size - 1)
  for (let look = 1; ; look++) {
    const [key, state] = keys.entries().next().value!
    keys.delete(key)
    if (state.last === state.queued || look === looks) return
    state.queued = state.last
    keys.set(key, state)
  }
}
