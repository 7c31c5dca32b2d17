import { type RateLimitDecision, toDecision, unitsOf } from "./decide.ts"
import type { RateLimitPolicy } from "./RateLimitPolicy.ts"
import type { Spent } from "./spend.ts"

/** Stores the usage of each key: `memoryStore`, `redisStore`, `postgresStore`, or a custom implementation based on `spend`. */
export interface RateLimitStore {
  /** Atomically takes units from a key's remainder if they fit. Each `policy.id` has separate keys. */
  spend(key: string, units: number, policy: RateLimitPolicy): Spent | PromiseLike<Spent>
}

/** Behavior when the store fails or doesn't respond. */
export interface RateLimiterOptions {
  /** Creates an abort signal for each store request: `() => AbortSignal.timeout(200)`. Default: none, so only the client's own timeout applies. */
  readonly signal?: (() => Signal) | undefined
  /** Whether `take` throws the store's error or the signal's reason, or allows the request uncounted. Default `throw`. */
  readonly whenAway?: "throw" | "allow" | undefined
  /** Called with the store's error for each request that was allowed uncounted. */
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
}

const MAX_KEY_LENGTH = 512

/** Creates a limiter that enforces a policy across all processes that share its store. */
export function rateLimiter(
  policy: RateLimitPolicy,
  store: RateLimitStore,
  { signal, whenAway, onAway }: RateLimiterOptions = {},
): RateLimiter {
  return {
    policy,
    async take(key, { cost = 1 } = {}) {
      if (typeof key !== "string" || key.length > MAX_KEY_LENGTH || key.includes("\0"))
        throw new RangeError(
          `key must be a text of at most ${MAX_KEY_LENGTH} characters without NUL: hash a longer one`,
        )
      const units = unitsOf(policy, cost)
      try {
        const spent = store.spend(key, units, policy)
        if (!("then" in spent)) return toDecision(policy, spent, cost)
        return toDecision(policy, await (signal ? Promise.race([spent, aborted(signal())]) : spent), cost)
      } catch (error) {
        if (whenAway !== "allow") throw error
        onAway?.(error)
        return { ...toDecision(policy, { allowed: true, used: 0, at: 0, now: 0 }, cost), counted: false }
      }
    },
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
