import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of an Express request that a limit can use. */
export interface ExpressRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** The client's address, according to `trust proxy`. */
  readonly ip?: string | undefined
}

/** The parts of an Express response that the middleware and `refuse` use. */
export interface ExpressResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
  once(event: "finish", listener: () => void): unknown
  status(status: number): { json(body: unknown): unknown; send(body: string): unknown }
}

/** Options of the Express middleware. */
export interface ExpressOptions extends LimitOptions<ExpressRequest> {
  /** Sends the response of a rejected request; the headers are already set. Default: a 429 in plain text. */
  refuse?(decision: RateLimitDecision, request: ExpressRequest, response: ExpressResponse): unknown
}

/** Creates middleware for Express 4 or 5 and compatible frameworks. Errors are passed to `next`. */
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
      const settle = limited?.settle
      if (settle) response.once("finish", () => void settle(response.statusCode))
    } catch (error) {
      return next(error)
    }
    next()
  }
}
