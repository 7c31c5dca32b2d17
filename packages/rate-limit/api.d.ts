/** A quota: how many requests one window admits. */
interface RateLimitPolicy {
    /** Requests admitted per window; a positive integer. */
    readonly limit: number;
    /** Length of a window in seconds; windows start at multiples of it since the Unix epoch. Default 60. */
    readonly windowSeconds?: number;
}
/** A window of time, both ends in whole Unix seconds: `start <= t < reset`. */
interface RateLimitWindow {
    readonly start: number;
    /** When the next window starts; the value of `X-RateLimit-Reset`. */
    readonly reset: number;
}
/** What a caller may do, and what its rate-limit headers say. */
interface RateLimitDecision {
    readonly allowed: boolean;
    /** Requests admitted per window. */
    readonly limit: number;
    /** Requests left in this window, never below 0. */
    readonly remaining: number;
    /** Unix seconds at which the window resets. */
    readonly reset: number;
    /** Whole seconds to wait, at least 1; null when allowed. */
    readonly retryAfter: number | null;
}
/** Finds the clock-aligned window that holds `now`, in Unix seconds (fractions allowed). Throws `RangeError` on a time or length out of range. */
declare function windowAt(now: number, windowSeconds?: number): RateLimitWindow;
/**
 * Decides about the request that made the count `count`: the first request of a window has count 1.
 *
 * A count of 0 asks about an untouched window. `now` is in Unix seconds. Throws `RangeError` on a count or limit that is no
 * whole number. Source: Outreach Partner API specification, Limits, rules 1–4.
 */
declare function decide(count: number, policy: RateLimitPolicy, now: number): RateLimitDecision;
/** The rate-limit response headers; `Retry-After` only when the request is rejected. */
interface RateLimitHeaders {
    readonly "X-RateLimit-Limit": string;
    readonly "X-RateLimit-Remaining": string;
    readonly "X-RateLimit-Reset": string;
    readonly "Retry-After"?: string;
}
/** Renders a decision as response headers. */
declare function rateLimitHeaders(decision: RateLimitDecision): RateLimitHeaders;

export { decide, rateLimitHeaders, windowAt };
export type { RateLimitDecision, RateLimitHeaders, RateLimitPolicy, RateLimitWindow };
