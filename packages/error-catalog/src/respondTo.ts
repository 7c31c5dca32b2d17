import type { Arguments, CatalogError } from "./CatalogError.ts"
import type { Envelope } from "./Envelope.ts"
import type { ErrorResponse } from "./ErrorCatalog.ts"

/** The parts of a catalog that error handlers use. */
export interface Responder<Context extends object> {
  readonly envelope: Envelope<Context>
  readonly from: (caught: unknown) => CatalogError<string, string, object | null, Context>
  readonly respond: (caught: unknown, ...context: Arguments<Context>) => ErrorResponse
}

/** Options of an error handler. `context` is required if the envelope requires one. */
export type HandlerOptions<Context extends object, Request> = {
  /**
   * Called with every error before its response, for logs. The error's `cause` is the caught value if it isn't of the catalog.
   *
   * Don't log the whole request: its headers and body may contain secrets.
   */
  readonly onError: (error: ReturnType<Responder<Context>["from"]>, request: Request) => unknown
} & ContextOption<Context, Request>

/** Builds the body fields next to the error, such as the request id. */
export type ContextOption<Context extends object, Request> =
  Record<never, never> extends Context
    ? { readonly context?: (request: Request) => Context }
    : { readonly context: (request: Request) => Context }

/** Reports a caught value, and builds its response. */
export function respondTo<Context extends object, Request>(
  { from, respond }: Responder<Context>,
  { onError, context }: HandlerOptions<Context, Request>,
  caught: unknown,
  request: Request,
): ErrorResponse {
  const error = from(caught)
  onError(error, request)
  return respond(error, ...([context?.(request)] as Arguments<Context>))
}
