import { type HandlerOptions, type Responder, respondTo } from "./respondTo.ts"

export type { ContextOption, HandlerOptions, Responder } from "./respondTo.ts"

/** The parts of an Express request that the options can read without a type of their own. */
export interface ExpressRequest {
  readonly method: string
  readonly originalUrl: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | string[] | undefined }
}

/** The parts of an Express response that the handler uses. */
export interface ExpressResponse {
  readonly headersSent: boolean
  statusCode: number
  setHeader(name: string, value: string): unknown
  removeHeader(name: string): unknown
  end(body: string): unknown
}

/** Creates an error handler for Express 4 or 5: `app.use(errorHandler(errors, { onError }))` after all routes. */
export function errorHandler<Context extends object, Request extends ExpressRequest = ExpressRequest>(
  catalog: Responder<Context>,
  options: HandlerOptions<Context, Request>,
): (caught: unknown, request: Request, response: ExpressResponse, next: (caught: unknown) => void) => void {
  // Express recognizes error handlers by their four parameters.
  return (caught, request, response, next) => {
    const { status, headers, body } = respondTo(catalog, options, caught, request)
    // Express closes the connection of a response that has started.
    if (response.headersSent) return next(caught)
    for (const name of ["Content-Encoding", "Content-Language", "Content-Range"]) response.removeHeader(name)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.statusCode = status
    response.end(JSON.stringify(body))
  }
}
