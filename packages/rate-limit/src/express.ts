import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of Node's `ServerResponse` that are written. */
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(body: string): unknown
}

/** The parts of an Express request that a limit may go by; name the type of Express itself for more: `(request: Request) =>`. */
export interface ExpressRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** The address of the connection, or what `trust proxy` makes of it. */
  readonly ip?: string | undefined
}

/** The parts of an Express response that a refusal may write. */
export interface ExpressResponse extends NodeResponse {
  status(status: number): { json(body: unknown): unknown; send(body: string): unknown }
}

/** Whom a request of Express counts for, and the response of one over the limit. */
export interface ExpressOptions<Request, Response> extends LimitOptions<Request> {
  /** Sends the response of a request over the limit; the headers are set. Default: a 429 in plain text. */
  readonly refuse?: ((decision: RateLimitDecision, request: Request, response: Response) => unknown) | undefined
}

/** Creates middleware for Express 4 or 5, or another framework with its signature. An error goes to `next`. */
export function rateLimit<Request = ExpressRequest, Response extends NodeResponse = ExpressResponse>(
  limiter: RateLimiter,
  options: ExpressOptions<Request, Response>,
): (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void> {
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
