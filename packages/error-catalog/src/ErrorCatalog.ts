import type { Arguments, CatalogErrors, Occurrence } from "./CatalogError.ts"
import type { Envelope } from "./Envelope.ts"
import type { ErrorCodes, ErrorTypes, Retry } from "./ErrorCodes.ts"
import type { ParsedError, ResponseHead } from "./parse.ts"
import type { StandardSchema } from "./StandardSchema.ts"

/** Options of `defineCatalog`. */
export interface CatalogOptions<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object> {
  readonly types: Types
  readonly codes: Codes
  /** Format of the bodies: `problemJson`, `partnerEnvelope` or a custom one. */
  readonly envelope: Envelope<Context>
  /** Returns the documentation URL of a code. */
  readonly docUrl: (code: string) => string
  /** Returns whether the URL in a received body is of this service. Default: whether it equals `docUrl(code)`, as in one deployment. */
  readonly isDocUrl?: (url: string, code: string) => boolean
  /** Code, or codes by status, for thrown values that don't belong to this catalog. */
  readonly unknown: UnknownCodes<WithoutDetails<Codes>>
  /** Validates details at run time when an error is created, for example during development. Default: false, because the compiler checks them. */
  readonly checkDetails?: boolean
}

/** The code of all values, or codes by the status of a framework's error. The one of 400 is also that of each 4xx that isn't listed. */
type UnknownCodes<Code> = Code | (Readonly<Record<400 | "default", Code>> & Readonly<Record<number, Code>>)

type WithoutDetails<Codes extends ErrorCodes> = {
  [Code in keyof Codes & string]: Codes[Code] extends { readonly details: StandardSchema } ? never : Code
}[keyof Codes & string]

/** A catalog: its two tables and its functions, which can be used detached from the object. */
export interface ErrorCatalog<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object = object> {
  readonly types: Types
  readonly codes: Codes
  readonly envelope: Envelope<Context>
  readonly docUrl: (code: string) => string
  /** Creates an error to throw. Throws `RangeError` on an unknown code. */
  readonly error: <Code extends keyof Codes & string>(
    code: Code,
    ...options: Arguments<Occurrence<Types, Codes[Code]>>
  ) => CatalogErrors<Codes, Context, Code>
  /** Returns whether a value is an error of this catalog, even if it was created by another copy of the package. */
  readonly is: (caught: unknown) => caught is CatalogErrors<Codes, Context>
  /** Returns an error of this catalog unchanged. Wraps any other value in an error of an `unknown` code, as its `cause`. */
  readonly from: (caught: unknown) => CatalogErrors<Codes, Context>
  /** Builds the response for a caught value. Values that aren't errors of this catalog don't appear in it. */
  readonly respond: (caught: unknown, ...context: Arguments<Context>) => ErrorResponse
  /** Builds a body without creating an error, which avoids the cost of a stack trace. Throws `RangeError` on an unknown code. */
  readonly body: <Code extends keyof Codes & string>(
    code: Code,
    options: Omit<Occurrence<Types, Codes[Code]>, "headers" | "cause"> & Context,
  ) => object
  /**
   * Parses the body of an error response (JSON or text, any content). Also uses the response's status and `Retry-After`.
   *
   * The last two cases of the union have a null code: an unknown code, or one with details that don't match its schema; and a body
   * that isn't an error of this service, which has a null `unknownCode` too.
   */
  readonly parse: (body: unknown, response?: ResponseHead) => ParsedError<Codes, Context>
  /** Returns whether an error of this type may be retried; "no" for an unknown type. */
  readonly retry: (type: string) => Retry
}

/** A response for servers that don't use Fetch. */
export interface ErrorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}
