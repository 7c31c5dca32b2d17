import type { FetchResponse, Occurrence } from "./CatalogError.ts"
import type { Envelope, WrittenError } from "./Envelope.ts"
import type { CatalogOptions, ErrorCatalog, ErrorResponse } from "./ErrorCatalog.ts"
import type { ErrorCode, ErrorCodes, ErrorTypes } from "./ErrorCodes.ts"
import { parse, type ResponseHead } from "./parse.ts"
import { readClientStatus } from "./readClientStatus.ts"
import { validate } from "./StandardSchema.ts"

/** Marks errors of a catalog across copies of this package. Its value is the code's documentation URL. */
const DOC_URL: unique symbol = Symbol.for("@outreach/error-catalog")

/**
 * Creates a catalog from its types and codes.
 *
 * Throws `TypeError` that names the option if the tables don't match.
 */
export function defineCatalog<
  const Types extends ErrorTypes,
  const Codes extends ErrorCodes<keyof Types & string>,
  Context extends object,
>(options: CatalogOptions<Types, Codes, Context>): ErrorCatalog<Types, Codes, Context> {
  const { types, codes, envelope, docUrl, unknown, checkDetails } = options as unknown as AnyOptions
  const { isDocUrl = (url, code) => url === docUrl(code) } = options
  for (const [code, { type, status }] of Object.entries(codes)) {
    if (!Object.hasOwn(types, type)) throw new TypeError(`codes.${code}.type: add ${type} to types`)
    if (!Number.isInteger(status) || status < 400 || status > 599)
      throw new TypeError(`codes.${code}.status: write one of 400 to 599, not ${status}`)
  }
  const table: Readonly<Record<string, string>> =
    typeof unknown === "string" ? { default: unknown } : Object.assign({ 400: undefined, default: undefined }, unknown)
  for (const [key, code] of Object.entries(table)) {
    const row = Object.hasOwn(codes, code) ? codes[code] : undefined
    const kind = key === "default" ? "" : `of ${key[0]}xx `
    if (!row || row.details || !`of ${row.status}`.startsWith(kind.slice(0, 4)))
      throw new TypeError(`unknown (${key}): write a code ${kind}without a schema of details, not ${code}`)
  }

  /** Returns all values of an error after its details were validated. */
  const describe = (code: string, { message, details = null, retryAfter }: AnyOccurrence): WrittenError => {
    if (!Object.hasOwn(codes, code)) throw new RangeError(`codes: there is no ${code}`)
    const { type, status, title, details: schema } = codes[code]!
    const issues = checkDetails && schema && validate(schema, details).issues
    if (issues) throw new TypeError(`details of ${code}: ${issues[0]!.message}`)
    return {
      code,
      type,
      status,
      title,
      message: message ?? title,
      details,
      docUrl: docUrl(code),
      // Rounded up to whole seconds for the header; invalid values become null.
      retryAfter: retryAfter! >= 0 ? Math.min(Math.ceil(retryAfter!), MAX_SECONDS) : null,
    }
  }

  class CatalogError extends Error implements WrittenError {
    declare readonly code: string
    declare readonly type: string
    declare readonly status: number
    declare readonly title: string
    declare readonly details: object | null
    declare readonly docUrl: string
    declare readonly retryAfter: number | null
    declare readonly headers: Readonly<Record<string, string>>

    constructor(code: string, given: AnyOccurrence) {
      const written = describe(code, given)
      super(written.message, "cause" in given ? { cause: given.cause } : {})
      const { retryAfter } = Object.assign(this, written, { retry: types[written.type]!.retry })
      const wait = retryAfter === null ? {} : { "Retry-After": `${retryAfter}` }
      this.headers = mergeHeaders(codes[code]!.headers, wait, given.headers)
    }
    override get name(): string {
      return "CatalogError"
    }
    get [DOC_URL](): string {
      return this.docUrl
    }
    toBody(context: object = {}): object {
      return envelope.write(this, context)
    }
    toResponse(context?: object): FetchResponse {
      const { status, headers, body } = respond(this, context)
      return new Response(JSON.stringify(body), { status, headers })
    }
  }

  const is = (caught: unknown): caught is CatalogError => {
    const error = caught as CatalogError | null | undefined
    const url = error?.[DOC_URL]
    return url !== undefined && Object.hasOwn(codes, error!.code) && url === docUrl(error!.code)
  }
  const from = (caught: unknown): CatalogError => {
    if (is(caught)) return caught
    const status = typeof unknown === "string" ? undefined : readClientStatus(caught)
    // A 4xx that isn't listed is a 400, as for clients (RFC 9110, 15).
    const code = table[status ?? "default"] ?? table[status! < 500 ? 400 : "default"]
    return new CatalogError(code!, { cause: caught })
  }
  const respond = (caught: unknown, context?: object): ErrorResponse => {
    const error = from(caught)
    return {
      status: error.status,
      headers: mergeHeaders({ "Content-Type": envelope.contentType }, error.headers),
      body: error.toBody(context),
    }
  }
  /** Reads a body of this service, with a known code or not. `envelope.read` may throw on other bodies, and `docUrl` on unknown codes. */
  const read: Envelope["read"] = (received) => {
    try {
      const found = envelope.read(received)
      const { code, docUrl: url } = found ?? {}
      // Without URLs, an envelope has no other mark than its format.
      return typeof code === "string" && (url === undefined || isDocUrl(url as string, code)) ? found : undefined
    } catch {
      return undefined
    }
  }
  return {
    types,
    codes,
    envelope,
    docUrl,
    is,
    from,
    respond,
    error: (code: string, given: AnyOccurrence = {}) => new CatalogError(code, given),
    body: (code: string, given: AnyOccurrence) => envelope.write(describe(code, given), given),
    retry: (type: string) => (Object.hasOwn(types, type) ? types[type]!.retry : "no"),
    parse: (received: unknown, response?: ResponseHead) =>
      parse({ types, codes, envelope: { read } }, received, response),
  } as unknown as ErrorCatalog<Types, Codes, Context>
}

/** Maximum of `Retry-After`, about 68 years. */
const MAX_SECONDS = 2 ** 31

/** Merges headers case-insensitively; the last value wins. */
function mergeHeaders(
  ...sources: (Readonly<Record<string, string | undefined>> | undefined)[]
): Record<string, string> {
  const merged = new Map<string, [name: string, value: string]>()
  for (const [name, value] of sources.flatMap((source) => Object.entries(source ?? {}))) {
    if (value !== undefined) merged.set(name.toLowerCase(), [name, `${value}`.replace(NOT_IN_HEADERS, " ")])
  }
  return Object.fromEntries(merged.values())
}

/** Characters that aren't allowed in header values (RFC 9110, 5.5). A line break would start another header. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]+/g

// Every platform has `Response`, but not every platform's types declare it.
declare const Response: new (body: string, head: Pick<ErrorResponse, "status" | "headers">) => FetchResponse

type AnyOptions = CatalogOptions<ErrorTypes, ErrorCodes, object>

/** The options that `Occurrence` allows for any code. */
type AnyOccurrence = Partial<Omit<Occurrence<ErrorTypes, ErrorCode>, "details">> & { readonly details?: object | null }
