import { type RateLimitDecision, toDecision, unitsOf } from "./decide.ts"
import type { RateLimitPolicy } from "./RateLimitPolicy.ts"
import type { Spent } from "./spend.ts"

/** Keeps what each key has used: `memoryStore`, `redisStore`, `postgresStore`, or your own around `spend`. */
export interface RateLimitStore {
  /** Takes units from what a key has left of a policy, if they fit, in one step that no other can part. Each `policy.id` has keys of its own. */
  spend(key: string, units: number, policy: RateLimitPolicy): Spent | PromiseLike<Spent>
}

/** What a limiter does when its store fails, or does not respond. */
export interface RateLimiterOptions {
  /** Creates the signal that ends the wait for the store, for each request: `() => AbortSignal.timeout(200)`. Default: none, so only the client ends it. */
  readonly signal?: (() => Signal) | undefined
  /** Whether `take` then throws the store's error or the signal's reason, or allows the request without counting it. Default `throw`. */
  readonly whenAway?: "throw" | "allow" | undefined
  /** Is called with the store's error for each request that was allowed without counting it. */
  readonly onAway?: ((error: unknown) => void) | undefined
}

/** The part of an `AbortSignal` that is used. */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: "abort", listener: () => void): void
}

/** A limit for each key. */
export interface RateLimiter {
  readonly policy: RateLimitPolicy
  /**
   * Takes from what a key has left, if it fits; a cost of 0 only asks. `cost` is a whole number, by default 1.
   *
   * Throws `RangeError` on a key of more than 512 characters or with NUL, and on a cost that is not a whole number; and what the store throws.
   */
  take(key: string, options?: { readonly cost?: number | undefined }): Promise<RateLimitDecision>
}

const MAX_KEY_LENGTH = 512

/** Creates a limiter that keeps to a policy over all processes that share its store. */
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

/** Returns a promise that only rejects, when the signal ends the wait. */
function aborted(signal: Signal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener("abort", end)
  })
}
