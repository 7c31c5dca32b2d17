import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of a Fastify request that a limit may go by. */
export interface LimitedRequest {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** The address of the connection, or what `trustProxy` makes of it. */
  readonly ip: string
}

/** The parts of a Fastify reply that are written. */
export interface LimitedReply {
  headers(values: Readonly<Record<string, string>>): unknown
  code(status: number): { send(body: unknown): unknown }
}

/** Whom a request of Fastify counts for, and the response of one over the limit. */
export interface FastifyOptions extends LimitOptions<LimitedRequest> {
  /** Sends the response of a request over the limit; the headers are set. Default: a 429 in plain text. */
  refuse?(decision: RateLimitDecision, request: LimitedRequest, reply: LimitedReply): unknown
}

/** Creates a hook for Fastify, of an app or of a route: `onRequest`, or `preHandler` where `key` needs what other hooks found. */
export function rateLimit(
  limiter: RateLimiter,
  options: FastifyOptions,
): (request: LimitedRequest, reply: LimitedReply) => Promise<unknown> {
  return async (request, reply) => {
    const limited = await limitRequest(limiter, request, options)
    if (limited === null) return
    reply.headers(limited.headers)
    if (limited.decision.allowed) return
    if (options.refuse) await options.refuse(limited.decision, request, reply)
    else reply.code(429).send(REFUSAL)
    return reply
  }
}
