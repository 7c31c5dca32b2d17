import { wholeMilliseconds } from "./decide.ts"
import { assertWhole } from "./RateLimitPolicy.ts"
import type { RateLimitStore } from "./rateLimiter.ts"
import { type RateLimitState, spend } from "./spend.ts"

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** Current time in Unix milliseconds: `Date.now`. */
  readonly now: () => number
  /** Maximum number of keys per policy, at least 2. Default 100,000. */
  readonly maxKeys?: number | undefined
}

/**
 * Creates a store in this process's memory.
 *
 * When it is full, it evicts the least recently active key: a key that used more than half of its limit only if more than half of
 * all keys did, otherwise another one. So an attacker must spend as much on `maxKeys / 2` other keys to evict a key.
 */
export function memoryStore({ now, maxKeys = 100_000 }: MemoryStoreOptions): RateLimitStore {
  assertWhole("maxKeys", maxKeys, 2)
  const policies = new Map<string, readonly [light: HeldKeys, heavy: HeldKeys]>()
  let request = 0
  return {
    spend(key, change, policy) {
      const held = policies.get(policy.id) ?? ([new Map(), new Map()] as const)
      policies.set(policy.id, held)
      const [light, heavy] = held
      const state = light.get(key) ?? heavy.get(key)
      const spent = spend(policy, state, change, wholeMilliseconds(now()))
      request += 1
      const { used, at } = spent
      // Update in place: in V8, deleting and re-adding a key slows down look-ups until the map is rebuilt.
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

/** Keys in eviction order. */
type HeldKeys = Map<string, HeldKey>
interface HeldKey extends RateLimitState {
  /** Sequence number of its latest request, and of the latest request when it was moved to the end of the order. */
  last: number
  queued: number
}

const MAX_LOOKS = 100

/** Evicts the first key without a request since it was moved to the end; moves keys with one to the end. Keeps the newest. */
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
