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
  /**
   * Returns whether a request counts, by the status of its response: `(status) => status === 401` counts failed logins. Default: each counts.
   *
   * Each request is counted first, and given back after its response, so concurrent requests can't exceed the limit.
   */
  counts?(status: number): boolean
  /** Header format. Default `draft`. */
  readonly headers?: HeaderForm | undefined
}

/** Default body of a 429. */
export const REFUSAL = "Too Many Requests\n"

/** A counted request. */
interface CountedRequest {
  readonly decision: RateLimitDecision
  readonly headers: Readonly<Record<string, string>>
  /** Gives the request back unless its response's status counts. If the store fails, the limiter calls `onAway`, and the request stays counted. */
  readonly settle: ((status: number) => Promise<unknown>) | undefined
}

/** Counts a request; returns null for an exempt request. Throws `TypeError` unless `key` returns text. */
export async function limitRequest<Request>(
  limiter: RateLimiter,
  request: Request,
  options: LimitOptions<Request>,
): Promise<CountedRequest | null> {
  const counted = await options.key(request)
  if (counted === null) return null
  if (typeof counted !== "string") throw new TypeError("key must return a text, or null for a request without a limit")
  const cost = await options.cost?.(request)
  const decision = await limiter.take(counted, { cost })
  return {
    decision,
    headers: rateLimitHeaders(decision, options.headers ?? "draft"),
    settle:
      options.counts &&
      (async (status) => options.counts!(status) || limiter.reward(counted, cost, decision).catch(() => {})),
  }
}
