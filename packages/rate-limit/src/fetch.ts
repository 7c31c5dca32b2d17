import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of a Fetch request that a limit may go by. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/** The part of a Fetch response that is written. */
export interface FetchResponse {
  readonly headers: { set(name: string, value: string): void }
}

/** Whom a Fetch request counts for, and the response of one over the limit. */
export interface FetchOptions<Response> extends LimitOptions<FetchRequest> {
  /** Creates the response of a request over the limit, to which the headers are added. Default: a 429 in plain text. */
  refuse?(decision: RateLimitDecision, request: FetchRequest): Response | PromiseLike<Response>
}

// Of the runtime: Node, Bun, Deno, Workers or a browser.
declare const Response: new (body: unknown, init: unknown) => FetchResponse

/** Wraps a handler of Fetch requests: the `fetch` of Workers, Deno, Bun or Hono, or a route of Next.js. Further arguments are handed on. */
export function rateLimit<Request extends FetchRequest, Rest extends unknown[], Response extends FetchResponse>(
  limiter: RateLimiter,
  options: FetchOptions<Response>,
  handle: (request: Request, ...rest: Rest) => Response | PromiseLike<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  return async (request, ...rest) => {
    const limited = await limitRequest(limiter, request, options)
    if (limited === null || limited.decision.allowed)
      return withHeaders(await handle(request, ...rest), limited?.headers)
    const { decision, headers } = limited
    return withHeaders((await options.refuse?.(decision, request)) ?? (plainRefusal() as Response), headers)
  }
}

const plainRefusal = () => new Response(REFUSAL, { status: 429, headers: { "Content-Type": "text/plain" } })

function withHeaders<R extends FetchResponse>(response: R, headers: Readonly<Record<string, string>> = {}): R {
  try {
    for (const name in headers) response.headers.set(name, headers[name]!)
    return response
  } catch {
    // The headers of a response that came from `fetch`, or of a redirect, cannot be changed.
    return withHeaders(new Response((response as { body?: unknown }).body, response) as R, headers)
  }
}
