import type { RateLimitDecision } from "./decide.ts"

/** Which headers: `x` for `X-RateLimit-Limit`, `-Remaining` and `-Reset`; `draft` for `RateLimit` and `RateLimit-Policy`. */
export type HeaderForm = "x" | "draft"

/**
 * Renders a decision as response headers, and as `Retry-After` where waiting helps; none for a request that was not counted.
 *
 * `X-RateLimit-Reset` is in Unix seconds. Source of `draft`: draft-ietf-httpapi-ratelimit-headers-11. Its effective window `t` is the time
 * until a window ends or a bucket is full, and never later than `Retry-After`.
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
