import type { RateLimitDecision } from "./decide.ts"
import { type LimitOptions, limitRequest, REFUSAL } from "./limitRequest.ts"
import type { RateLimiter } from "./rateLimiter.ts"

export type { LimitOptions } from "./limitRequest.ts"

/** The parts of a Fastify request that a limit can use. */
export interface LimitedRequest {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  /** The client's address, according to `trustProxy`. */
  readonly ip: string
}

/** The parts of a Fastify reply that the hook uses. */
export interface LimitedReply {
  headers(values: Readonly<Record<string, string>>): unknown
  code(status: number): { send(body: unknown): unknown }
  readonly raw: { readonly statusCode: number; once(event: "finish", listener: () => void): unknown }
}

/** Options of the Fastify hook. */
export interface FastifyOptions extends LimitOptions<LimitedRequest> {
  /** Sends the response of a rejected request; the headers are already set. Default: a 429 in plain text. */
  refuse?(decision: RateLimitDecision, request: LimitedRequest, reply: LimitedReply): unknown
}

/** Creates a Fastify hook for an app or a route: `onRequest`, or `preHandler` if `key` needs results of other hooks. */
export function rateLimit(
  limiter: RateLimiter,
  options: FastifyOptions,
): (request: LimitedRequest, reply: LimitedReply) => Promise<unknown> {
  return async (request, reply) => {
    const limited = await limitRequest(limiter, request, options)
    if (limited === null) return
    reply.headers(limited.headers)
    const { settle } = limited
    if (limited.decision.allowed)
      return void (settle && reply.raw.once("finish", () => void settle(reply.raw.statusCode)))
    if (options.refuse) await options.refuse(limited.decision, request, reply)
    else reply.code(429).send(REFUSAL)
    return reply
  }
}
