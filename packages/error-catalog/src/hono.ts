import type { FetchResponse } from "./CatalogError.ts"
import type { ErrorCatalog } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"
import { type HandlerOptions, respondTo } from "./respondTo.ts"

/** The parts of a Hono context that the handler uses. */
export interface HonoContext {
  readonly req: { readonly bodyCache: { readonly text?: unknown } }
  body(data: string, status: number, headers: Record<string, string>): FetchResponse
}

/** Creates an error handler for Hono: `app.onError(errorHandler(errors, { onError }))`. */
export function errorHandler<Codes extends ErrorCodes, Context extends object, Hono extends HonoContext>(
  catalog: ErrorCatalog<ErrorTypes, Codes, Context>,
  options: HandlerOptions<Codes, Context, Hono>,
): (caught: Error, context: Hono) => Promise<FetchResponse> {
  return async (caught, context) => {
    // Marked as http-errors marks it, because Hono throws the platform's own error.
    if (await isOfBody(caught, context.req.bodyCache)) Object.assign(caught, { status: 400, expose: false })
    const { status, headers, body } = respondTo(catalog, options, caught, context)
    return context.body(JSON.stringify(body), status, { ...headers })
  }
}

/** Returns whether an error is of the request's body: malformed JSON, or malformed form data. */
async function isOfBody(caught: Error, bodyCache: { readonly text?: unknown }): Promise<boolean> {
  if (!(caught instanceof SyntaxError || caught instanceof TypeError)) return false
  try {
    await Promise.all(Object.values(bodyCache))
    if ("text" in bodyCache) JSON.parse(`${await bodyCache.text}`)
    return false
  } catch (failure) {
    return `${failure}` === `${caught}`
  }
}
