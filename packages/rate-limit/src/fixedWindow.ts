/** A quota: how many requests one window admits. */
export interface RateLimitPolicy {
  /** Requests admitted per window; a positive integer. */
  readonly limit: number
  /** Length of a window in seconds; windows start at multiples of it since the Unix epoch. Default 60. */
  readonly windowSeconds?: number
}

/** A window of time, both ends in whole Unix seconds: `start <= t < reset`. */
export interface RateLimitWindow {
  readonly start: number
  /** When the next window starts; the value of `X-RateLimit-Reset`. */
  readonly reset: number
}

/** What a caller may do, and what its rate-limit headers say. */
export interface RateLimitDecision {
  readonly allowed: boolean
  /** Requests admitted per window. */
  readonly limit: number
  /** Requests left in this window, never below 0. */
  readonly remaining: number
  /** Unix seconds at which the window resets. */
  readonly reset: number
  /** Whole seconds to wait, at least 1; null when allowed. */
  readonly retryAfter: number | null
}

const DEFAULT_WINDOW_SECONDS = 60

/** Finds the clock-aligned window that holds `now`, in Unix seconds (fractions allowed). Throws `RangeError` on a time or length out of range. */
export function windowAt(now: number, windowSeconds: number = DEFAULT_WINDOW_SECONDS): RateLimitWindow {
  if (!Number.isSafeInteger(Math.floor(now))) throw new RangeError("now must be Unix seconds within the safe integers")
  if (!Number.isSafeInteger(windowSeconds) || windowSeconds < 1) {
    throw new RangeError("windowSeconds must be a positive integer")
  }
  const start = Math.floor(now / windowSeconds) * windowSeconds
  return { start, reset: start + windowSeconds }
}

/**
 * Decides about the request that made the count `count`: the first request of a window has count 1.
 *
 * A count of 0 asks about an untouched window. `now` is in Unix seconds. Throws `RangeError` on a count or limit that is no
 * whole number. Source: Outreach Partner API specification, Limits, rules 1–4.
 */
export function decide(count: number, policy: RateLimitPolicy, now: number): RateLimitDecision {
  const { limit, windowSeconds = DEFAULT_WINDOW_SECONDS } = policy
  if (!Number.isSafeInteger(limit) || limit < 1) throw new RangeError("limit must be a positive integer")
  if (!Number.isSafeInteger(count) || count < 0) throw new RangeError("count must be a whole number, 0 or more")
  const { reset } = windowAt(now, windowSeconds)
  const allowed = count <= limit
  return {
    allowed,
    limit,
    remaining: Math.max(0, limit - count),
    reset,
    // `reset` is whole and later than `now`, so this is the wait rounded up, and at least 1.
    retryAfter: allowed ? null : reset - Math.floor(now),
  }
}

/** The rate-limit response headers; `Retry-After` only when the request is rejected. */
export interface RateLimitHeaders {
  readonly "X-RateLimit-Limit": string
  readonly "X-RateLimit-Remaining": string
  readonly "X-RateLimit-Reset": string
  readonly "Retry-After"?: string
}

/** Renders a decision as response headers. */
export function rateLimitHeaders(decision: RateLimitDecision): RateLimitHeaders {
  return {
    "X-RateLimit-Limit": String(decision.limit),
    "X-RateLimit-Remaining": String(decision.remaining),
    "X-RateLimit-Reset": String(decision.reset),
    ...(decision.retryAfter === null ? {} : { "Retry-After": String(decision.retryAfter) }),
  }
}
