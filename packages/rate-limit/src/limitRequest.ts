import type { RateLimitDecision } from "./decide.ts"
import type { RateLimiter } from "./rateLimiter.ts"
import { type HeaderForm, rateLimitHeaders } from "./rateLimitHeaders.ts"

/** Options of all adapters. Functions may declare the framework's request type: `(request: FastifyRequest) =>`. */
export interface LimitOptions<Request> {
  /**
   * Returns the key that the request counts for, such as a verified API key or the client's address; null exempts the
   * request. Don't use a header that clients can set, such as `X-Forwarded-For`: it lets them choose their key.
   */
  key(request: Request): string | null | PromiseLike<string | null>
  /** Returns the cost of the request. Default 1. */
  cost?(request: Request): number | PromiseLike<number>
  /** Header format. Default `draft`. */
  readonly headers?: HeaderForm | undefined
}

/** Default body of a 429. */
export const REFUSAL = "Too Many Requests\n"

/** Counts a request. Returns the decision with its headers, or null for an exempt request. Throws `TypeError` unless `key` returns text. */
export async function limitRequest<Request>(
  limiter: RateLimiter,
  request: Request,
  options: LimitOptions<Request>,
): Promise<{ readonly decision: RateLimitDecision; readonly headers: Readonly<Record<string, string>> } | null> {
  const counted = await options.key(request)
  if (counted === null) return null
  if (typeof counted !== "string") throw new TypeError("key must return a text, or null for a request without a limit")
  const decision = await limiter.take(counted, { cost: await options.cost?.(request) })
  return { decision, headers: rateLimitHeaders(decision, options.headers ?? "draft") }
}
