import type { ErrorCatalog } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"
import { type HandlerOptions, respondTo } from "./respondTo.ts"

/** The parts of an Express request that the options can read. Give their parameter a type to read others. */
export interface ExpressRequest {
  readonly method: string
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
export function errorHandler<Codes extends ErrorCodes, Context extends object, Request extends ExpressRequest>(
  catalog: ErrorCatalog<ErrorTypes, Codes, Context>,
  options: HandlerOptions<Codes, Context, Request>,
): (caught: unknown, request: ExpressRequest, response: ExpressResponse, next: (caught: unknown) => void) => void {
  return (caught, request, response, next) => {
    const { status, headers, body } = respondTo(catalog, options, caught, request as Request)
    // Express closes the connection of a response that has started.
    if (response.headersSent) return next(caught)
    // The failed handler may have set these for its own body.
    for (const name of ["Encoding", "Language", "Length", "Range"]) response.removeHeader(`Content-${name}`)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    response.statusCode = status
    response.end(JSON.stringify(body))
  }
}
