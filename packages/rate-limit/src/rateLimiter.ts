import { type RateLimitDecision, toDecision, unitsOf } from "./decide.ts"
import type { RateLimitPolicy } from "./RateLimitPolicy.ts"
import type { Change, Spent } from "./spend.ts"

/** Stores the usage of each key: `memoryStore`, `redisStore`, `postgresStore`, or a custom implementation based on `spend`. */
export interface RateLimitStore {
  /** Atomically changes a key's usage as `spend` does. Each `policy.id` has separate keys. */
  spend(key: string, change: Change, policy: RateLimitPolicy): Spent | PromiseLike<Spent>
}

/** Behavior when the store fails or doesn't respond. */
export interface RateLimiterOptions {
  /** Creates an abort signal for each store request: `() => AbortSignal.timeout(200)`. Default: none, so only the client's own timeout applies. */
  readonly signal?: (() => Signal) | undefined
  /** Whether methods throw the store's error or the signal's reason, or return an allowed, uncounted decision. Default `throw`. */
  readonly whenAway?: "throw" | "allow" | undefined
  /** Called with each error of the store, also if it is thrown. */
  readonly onAway?: ((error: unknown) => void) | undefined
}

/** The subset of `AbortSignal` that is used. */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: "abort", listener: () => void): void
}

/** A limit for each key. */
export interface RateLimiter {
  readonly policy: RateLimitPolicy
  /**
   * Takes from a key's remainder if it fits. A cost of 0 only reads. `cost` is a whole number, default 1.
   *
   * Throws `RangeError` on keys with more than 512 characters or NUL and on invalid costs; also throws the store's errors.
   */
  take(key: string, options?: { readonly cost?: number | undefined }): Promise<RateLimitDecision>
  /** Takes from a key's remainder as much as is left, at most `cost` (default 1). The next three throw and return the same as `take` with a cost of 0. */
  penalty(key: string, cost?: number): Promise<RateLimitDecision>
  /**
   * Gives back to a key, at most its full limit. `cost` defaults to 1.
   *
   * To undo a `take`, pass its decision. Then nothing is given back from its `fullAt` on, because the key regained it already.
   */
  reward(key: string, cost?: number, undo?: RateLimitDecision): Promise<RateLimitDecision>
  /** Gives a key its full limit. */
  reset(key: string): Promise<RateLimitDecision>
}

const MAX_KEY_LENGTH = 512
const ALWAYS = Number.MAX_SAFE_INTEGER

/** Creates a limiter that enforces a policy across all processes that share its store. */
export function rateLimiter(
  policy: RateLimitPolicy,
  store: RateLimitStore,
  { signal, whenAway, onAway }: RateLimiterOptions = {},
): RateLimiter {
  const change = async (key: string, cost: number, update: Change): Promise<RateLimitDecision> => {
    if (typeof key !== "string" || key.length > MAX_KEY_LENGTH || key.includes("\0"))
      throw new RangeError(`key must be a text of at most ${MAX_KEY_LENGTH} characters without NUL: hash a longer one`)
    try {
      const spent = store.spend(key, update, policy)
      if (!("then" in spent)) return toDecision(policy, spent, cost)
      return toDecision(policy, await (signal ? Promise.race([spent, aborted(signal())]) : spent), cost)
    } catch (error) {
      onAway?.(error)
      if (whenAway !== "allow") throw error
      return { ...toDecision(policy, { allowed: true, used: 0, at: 0, now: 0 }, cost), counted: false }
    }
  }
  return {
    policy,
    take: async (key, { cost = 1 } = {}) => change(key, cost, { units: unitsOf(policy, cost), forceUntil: 0 }),
    penalty: async (key, cost = 1) => change(key, 0, { units: unitsOf(policy, cost), forceUntil: ALWAYS }),
    reward: async (key, cost = 1, undo) =>
      change(key, 0, { units: -unitsOf(policy, cost), forceUntil: undo?.fullAt ?? ALWAYS }),
    reset: async (key) => change(key, 0, { units: -unitsOf(policy, policy.limit), forceUntil: ALWAYS }),
  }
}

/** Returns a promise that rejects when the signal aborts, and never resolves. */
function aborted(signal: Signal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener("abort", end)
  })
}
