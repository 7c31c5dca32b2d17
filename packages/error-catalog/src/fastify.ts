import type { ErrorCatalog } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"
import { type HandlerOptions, respondTo } from "./respondTo.ts"

/** The parts of a Fastify request that the options can use. Give their parameter a type to use others. */
export interface FastifyRequest {
  readonly id: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
  readonly log: { info(error: unknown): void; error(error: unknown): void }
}

/** The parts of a Fastify reply that the handler uses. */
export interface FastifyReply {
  // biome-ignore lint/suspicious/noExplicitAny: Fastify's type of the body depends on the route's schemas.
  code(status: number): { headers(values: Readonly<Record<string, string>>): { send(...body: any): unknown } }
}

/** Creates an error handler for Fastify: `app.setErrorHandler(errorHandler(errors, { onError }))`. */
export function errorHandler<Codes extends ErrorCodes, Context extends object, Request extends FastifyRequest>(
  catalog: ErrorCatalog<ErrorTypes, Codes, Context>,
  options: HandlerOptions<Codes, Context, Request>,
): (caught: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (caught, request, reply) => {
    const { status, headers, body } = respondTo(catalog, options, caught, request as Request)
    // Text, because Fastify applies the route's response schema to objects.
    reply.code(status).headers(headers).send(JSON.stringify(body))
  }
}
