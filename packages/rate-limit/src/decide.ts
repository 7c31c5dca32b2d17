import { assertWhole, type RateLimitPolicy } from "./RateLimitPolicy.ts"
import { type RateLimitState, type Spent, spend } from "./spend.ts"

/** What a caller may do, and what its rate-limit headers say. */
export interface RateLimitDecision {
  readonly allowed: boolean
  /** The limit of the window, or the capacity of the bucket. */
  readonly limit: number
  /** What is left now, in whole requests, never below 0. */
  readonly remaining: number
  /** Unix seconds at which all of the limit is there again; whole. */
  readonly reset: number
  /** Whole seconds until `reset`. */
  readonly resetAfter: number
  /** Whole seconds, at least 1, after which the same request fits; null when allowed, and for a cost above the limit, which never fits. */
  readonly retryAfter: number | null
  /** False where the store was away and `whenAway` let the request through: then there are no headers, and the numbers mean nothing. */
  readonly counted: boolean
  readonly policy: RateLimitPolicy
}

/** A request for a part of the limit. */
export interface DecideOptions {
  /** What the request costs; a whole number from 0. Default 1. */
  readonly cost?: number | undefined
  /** The time, in Unix milliseconds, as `Date.now()` gives it. */
  readonly now: number
}

/**
 * Decides about a request, and returns the state to keep for its key. The first request of a key has no state.
 *
 * Throws `RangeError` on a cost that is not a whole number, and on a time that is no time.
 */
export function decide(
  policy: RateLimitPolicy,
  state: RateLimitState | undefined,
  { cost = 1, now }: DecideOptions,
): { readonly decision: RateLimitDecision; readonly state: RateLimitState } {
  const spent = spend(policy, state, unitsOf(policy, cost), wholeMilliseconds(now))
  return { decision: toDecision(policy, spent, cost), state: { used: spent.used, at: spent.at } }
}

/** Decides about the request that made the count of its fixed window `count`, where you count yourself: the first has 1, and 0 shows an untouched window. `now` is in Unix milliseconds. */
export function decideCount(policy: RateLimitPolicy, count: number, now: number): RateLimitDecision {
  assertWhole("count", count, 0)
  const at = wholeMilliseconds(now)
  return toDecision(policy, { allowed: count <= policy.limit, used: count, at, now: at }, 1)
}

/** Makes a decision of the outcome of a request. */
export function toDecision(
  policy: RateLimitPolicy,
  { allowed, used, at, now }: Spent,
  cost: number,
): RateLimitDecision {
  const { limit, unit, leak, windowMs } = policy
  const left = limit * unit - used
  const backAt = (units: number) => (leak ? at + Math.ceil(units / leak) : (Math.floor(at / windowMs) + 1) * windowMs)
  const reset = backAt(used)
  return {
    allowed,
    limit,
    remaining: Math.max(0, Math.floor(left / unit)),
    reset: Math.ceil(reset / 1000),
    resetAfter: Math.max(0, Math.ceil((reset - now) / 1000)),
    retryAfter: allowed || cost > limit ? null : Math.max(1, Math.ceil((backAt(cost * unit - left) - now) / 1000)),
    counted: true,
    policy,
  }
}

/** Returns a cost in the units of a policy; of one above the limit as many as never fit. Throws `RangeError` unless it is a whole number. */
export function unitsOf({ limit, unit }: RateLimitPolicy, cost: number): number {
  assertWhole("cost", cost, 0)
  return Math.min(cost, limit + 1) * unit
}

/** Returns a time in whole milliseconds. Throws `RangeError` unless it is in Unix milliseconds. */
export function wholeMilliseconds(now: number): number {
  if (!(now >= 0 && now <= MAX_TIME)) throw new RangeError("now must be Unix milliseconds, as Date.now() gives them")
  return Math.floor(now)
}

/** The latest time that `Date` has. */
const MAX_TIME = 8.64e15
