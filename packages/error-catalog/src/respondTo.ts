import type { Arguments, CatalogErrors } from "./CatalogError.ts"
import type { ErrorCatalog, ErrorResponse } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"

/** Options of an error handler. `context` is required if the envelope requires a context. */
export type HandlerOptions<Codes extends ErrorCodes, Context extends object, Request> = {
  /** Called with every error, for logs. Its `cause` is the caught value if that isn't of the catalog. A request contains secrets. */
  readonly onError: (error: CatalogErrors<Codes, Context>, request: Request) => unknown
} & (Record<never, never> extends Context
  ? { readonly context?: (request: Request) => Context }
  : { readonly context: (request: Request) => Context })

/** Reports a caught value, and builds its response. */
export function respondTo<Codes extends ErrorCodes, Context extends object, Request>(
  { from, respond }: ErrorCatalog<ErrorTypes, Codes, Context>,
  { onError, context }: HandlerOptions<Codes, Context, Request>,
  caught: unknown,
  request: Request,
): ErrorResponse {
  const error = from(caught)
  onError(error, request)
  return respond(error, ...([context?.(request)] as Arguments<Context>))
}
