import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of a Fetch request that a limit can use. */
export interface FetchRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/** The parts of a Fetch response that the wrapper uses. */
export interface FetchResponse {
  readonly status: number
  readonly headers: { set(name: string, value: string): void }
}

/** Options of the Fetch wrapper. */
export interface FetchOptions<Response> extends LimitOptions<FetchRequest> {
  /** Creates the response of a rejected request; the headers are added to it. Default: a 429 in plain text. */
  refuse?(decision: RateLimitDecision, request: FetchRequest): Response | PromiseLike<Response>
}

// Provided by the runtime: Node, Bun, Deno, Workers or a browser.
declare const Response: new (body: unknown, init: unknown) => FetchResponse

/** Wraps a Fetch handler: `fetch` of Workers, Deno, Bun or Hono, or a Next.js route. Passes further arguments on. */
export function rateLimit<Request extends FetchRequest, Rest extends unknown[], Response extends FetchResponse>(
  limiter: RateLimiter,
  options: FetchOptions<Response>,
  handle: (request: Request, ...rest: Rest) => Response | PromiseLike<Response>,
): (request: Request, ...rest: Rest) => Promise<Response> {
  return async (request, ...rest) => {
    const limited = await limitRequest(limiter, request, options)
    if (limited === null || limited.decision.allowed) {
      let status = 500
      try {
        const response = await handle(request, ...rest)
        status = response.status
        return withHeaders(response, limited?.headers)
      } finally {
        await limited?.settle?.(status)
      }
    }
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
    // Responses of `fetch` and redirects have immutable headers.
    return withHeaders(new Response((response as { body?: unknown }).body, response) as R, headers)
  }
}
