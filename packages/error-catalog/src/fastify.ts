import type { Arguments } from "./CatalogError.ts"
import { type ContextOption, type HandlerOptions, type Responder, respondTo } from "./respondTo.ts"

export type { ContextOption, HandlerOptions, Responder } from "./respondTo.ts"

/** The parts of a Fastify request that the handler and the options can use without a type of their own. */
export interface FastifyRequest {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly log: { info(value: unknown): void; error(value: unknown): void }
}

/** The parts of a Fastify reply that the handler uses. */
export interface FastifyReply {
  code(status: number): { headers(values: Readonly<Record<string, string>>): { send(body: string): unknown } }
}

/** Options of the Fastify error handler. */
export type FastifyOptions<Context extends object, Request> = Partial<
  Pick<HandlerOptions<Context, Request>, "onError">
> &
  ContextOption<Context, Request>

/**
 * Creates an error handler for Fastify: `app.setErrorHandler(errorHandler(errors))`.
 *
 * Default of `onError`: the request's log, with the level `error` for 5xx and `info` for 4xx, as without this handler.
 */
export function errorHandler<Context extends object, Request extends FastifyRequest = FastifyRequest>(
  catalog: Responder<Context>,
  ...[options]: Arguments<FastifyOptions<Context, Request>>
): (caught: unknown, request: Request, reply: FastifyReply) => void {
  const all = { onError: logError, ...options } as HandlerOptions<Context, Request>
  return (caught, request, reply) => {
    const { status, headers, body } = respondTo(catalog, all, caught, request)
    // Text, because Fastify applies the route's response schema to objects.
    reply.code(status).headers(headers).send(JSON.stringify(body))
  }
}

function logError(error: { readonly status: number; readonly cause?: unknown }, { log }: FastifyRequest): void {
  log[error.status < 500 ? "info" : "error"](error.cause ?? error)
}
