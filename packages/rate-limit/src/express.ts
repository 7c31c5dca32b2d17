import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of an Express request that a limit may go by. */
export interface ExpressRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** The address of the connection, or what `trust proxy` makes of it. */
  readonly ip?: string | undefined
}

/** The parts of an Express response that are written, or that a refusal may write. */
export interface ExpressResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
  status(status: number): { json(body: unknown): unknown; send(body: string): unknown }
}

/** Whom a request of Express counts for, and the response of one over the limit. */
export interface ExpressOptions extends LimitOptions<ExpressRequest> {
  /** Sends the response of a request over the limit; the headers are set. Default: a 429 in plain text. */
  refuse?(decision: RateLimitDecision, request: ExpressRequest, response: ExpressResponse): unknown
}

/** Creates middleware for Express 4 or 5, or another framework with its signature. An error goes to `next`. */
export function rateLimit(
  limiter: RateLimiter,
  options: ExpressOptions,
): (request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void) => Promise<void> {
  return async (request, response, next) => {
    try {
      const limited = await limitRequest(limiter, request, options)
      for (const name in limited?.headers) response.setHeader(name, limited.headers[name]!)
      if (limited?.decision.allowed === false) {
        if (options.refuse) return void (await options.refuse(limited.decision, request, response))
        response.statusCode = 429
        response.setHeader("Content-Type", "text/plain")
        return void response.end(REFUSAL)
      }
    } catch (error) {
      return next(error)
    }
    next()
  }
}
