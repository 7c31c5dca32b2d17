import type { RateLimitDecision } from "./fixedWindow.ts"

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
