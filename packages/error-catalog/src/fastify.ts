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
  code(status: number): { headers(values: Readonly<Record<string, string>>): { send(...body: never): unknown } }
}

/** Creates an error handler for Fastify: `app.setErrorHandler(errorHandler(errors, { onError }))`. */
export function errorHandler<Codes extends ErrorCodes, Context extends object, Request extends FastifyRequest>(
  catalog: ErrorCatalog<ErrorTypes, Codes, Context>,
  options: HandlerOptions<Codes, Context, Request>,
): (caught: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  return (caught, request, reply) => {
    const { status, headers, body } = respondTo(catalog, options, caught, request as Request)
    // Text, because Fastify applies the route's response schema to objects. `never`, because its types depend on that schema.
    const started = reply.code(status).headers(headers)
    started.send(...([JSON.stringify(body)] as never))
  }
}
