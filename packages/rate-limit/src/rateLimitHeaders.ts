import type { RateLimitDecision } from "./decide.ts"

/** Header format: `x` for `X-RateLimit-Limit`, `-Remaining` and `-Reset`; `draft` for `RateLimit` and `RateLimit-Policy`. */
export type HeaderForm = "x" | "draft"

/**
 * Formats a decision as response headers, including `Retry-After` if waiting helps. Returns none for an uncounted request.
 *
 * `X-RateLimit-Reset` is in Unix seconds. Source of `draft`: draft-ietf-httpapi-ratelimit-headers-11. The effective window `t` is the time
 * until the window ends or the bucket is full, and never later than `Retry-After`.
 */
export function rateLimitHeaders(
  { counted, limit, remaining, reset, resetAfter, retryAfter, policy }: RateLimitDecision,
  form: HeaderForm,
): Readonly<Record<string, string>> {
  if (!counted) return {}
  return {
    ...(form === "x"
      ? {
          "X-RateLimit-Limit": `${limit}`,
          "X-RateLimit-Remaining": `${remaining}`,
          "X-RateLimit-Reset": `${reset}`,
        }
      : {
          RateLimit: `"${policy.name}";r=${remaining};t=${retryAfter ?? resetAfter}`,
          "RateLimit-Policy": `"${policy.name}";q=${limit};w=${Math.ceil(policy.windowMs / 1000)}`,
        }),
    ...(retryAfter !== null && { "Retry-After": `${retryAfter}` }),
  }
}
