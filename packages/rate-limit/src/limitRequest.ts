import type { RateLimitDecision } from "./decide.ts"
import type { RateLimiter } from "./rateLimiter.ts"
import { type HeaderForm, rateLimitHeaders } from "./rateLimitHeaders.ts"

/** Whom a request counts for, and what it costs. A function may name the type of the framework for its request: `(request: FastifyRequest) =>`. */
export interface LimitOptions<Request> {
  /**
   * Returns whom the request counts for, such as an API key that was recognised or the address of the connection; null for a request without
   * a limit. A header that the client may write, such as `X-Forwarded-For`, lets it choose whom it counts for.
   */
  key(request: Request): string | null | PromiseLike<string | null>
  /** Returns what the request costs. Default 1. */
  cost?(request: Request): number | PromiseLike<number>
  /** The form of the headers. Default `draft`. */
  readonly headers?: HeaderForm | undefined
}

/** The body of a 429 by default. */
export const REFUSAL = "Too Many Requests\n"

/** Counts a request, and returns the decision with its headers; null for a request without a limit. Throws `TypeError` when `key` returns no text. */
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
