import { assertWhole, type RateLimitPolicy } from "./RateLimitPolicy.ts"
import { type RateLimitState, type Spent, spend } from "./spend.ts"

/** The decision about a request, with the values of its rate-limit headers. */
export interface RateLimitDecision {
  readonly allowed: boolean
  /** Limit of the window, or capacity of the bucket. */
  readonly limit: number
  /** Remaining whole requests, at least 0. */
  readonly remaining: number
  /** Time at which the full limit is available again, in whole Unix seconds. */
  readonly reset: number
  /** `reset` in Unix milliseconds, not rounded. */
  readonly fullAt: number
  /** Whole seconds until `reset`. */
  readonly resetAfter: number
  /** Whole seconds, at least 1, until the same request is allowed; null if it is allowed now, or if its cost exceeds the limit. */
  readonly retryAfter: number | null
  /** False if the store was unavailable and `whenAway` allowed the request. Then there are no headers, and the numbers are meaningless. */
  readonly counted: boolean
  readonly policy: RateLimitPolicy
}

/** Options of `decide`. */
export interface DecideOptions {
  /** Cost of the request, a whole number of at least 0. Default 1. */
  readonly cost?: number | undefined
  /** Current time in Unix milliseconds, such as `Date.now()`. */
  readonly now: number
}

/**
 * Decides about a request. Returns the decision and the new state of its key. A key's first request has no state.
 *
 * Throws `RangeError` unless the cost is a whole number and the time is valid.
 */
export function decide(
  policy: RateLimitPolicy,
  state: RateLimitState | undefined,
  { cost = 1, now }: DecideOptions,
): { readonly decision: RateLimitDecision; readonly state: RateLimitState } {
  const spent = spend(policy, state, { units: unitsOf(policy, cost), forceUntil: 0 }, wholeMilliseconds(now))
  return { decision: toDecision(policy, spent, cost), state: { used: spent.used, at: spent.at } }
}

/** Decides about a request of a fixed window that you count yourself: `count` includes the request, and 0 shows an unused window. `now` is in Unix milliseconds. */
export function decideCount(policy: RateLimitPolicy, count: number, now: number): RateLimitDecision {
  assertWhole("count", count, 0)
  const at = wholeMilliseconds(now)
  return toDecision(policy, { allowed: count <= policy.limit, used: count, at, now: at }, 1)
}

/** Converts a store's result into a decision. */
export function toDecision(
  policy: RateLimitPolicy,
  { allowed, used, at, now }: Spent,
  cost: number,
): RateLimitDecision {
  const { limit, unit, leak, windowMs } = policy
  const left = limit * unit - used
  const backAt = (units: number) => (leak ? at + Math.ceil(units / leak) : (Math.floor(at / windowMs) + 1) * windowMs)
  const fullAt = backAt(used)
  return {
    allowed,
    limit,
    remaining: Math.max(0, Math.floor(left / unit)),
    reset: Math.ceil(fullAt / 1000),
    fullAt,
    resetAfter: Math.max(0, Math.ceil((fullAt - now) / 1000)),
    retryAfter: allowed || cost > limit ? null : Math.max(1, Math.ceil((backAt(cost * unit - left) - now) / 1000)),
    counted: true,
    policy,
  }
}

/** Converts a cost to units of the policy; costs above the limit are reduced to limit + 1. Throws `RangeError` unless the cost is a whole number. */
export function unitsOf({ limit, unit }: RateLimitPolicy, cost: number): number {
  assertWhole("cost", cost, 0)
  return Math.min(cost, limit + 1) * unit
}

/** Returns a time in whole milliseconds. Throws `RangeError` unless it is in Unix milliseconds. */
export function wholeMilliseconds(now: number): number {
  if (!(now >= 0 && now <= MAX_TIME)) throw new RangeError("now must be Unix milliseconds, as Date.now() gives them")
  return Math.floor(now)
}

/** Maximum time of `Date`. */
const MAX_TIME = 8.64e15
