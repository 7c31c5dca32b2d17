import type { Arguments, CatalogErrors, Occurrence } from "./CatalogError.ts"
import type { Envelope } from "./Envelope.ts"
import type { ErrorCodes, ErrorTypes, Retry } from "./ErrorCodes.ts"
import type { ParsedError, ResponseHead } from "./parse.ts"

/** Options of `defineCatalog`. */
export interface CatalogOptions<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object> {
  readonly types: Types
  readonly codes: Codes
  /** Format of the bodies: `problemJson`, `partnerEnvelope` or a custom one. */
  readonly envelope: Envelope<Context>
  /** Returns the documentation URL of a code. */
  readonly docUrl: (code: string) => string
  /** Code for thrown values that don't belong to this catalog. */
  readonly unknown: keyof Codes & string
  /** Validates details at run time when an error is created, for example during development. Default: false, because the compiler checks them. */
  readonly checkDetails?: boolean
}

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
  /** Returns an error of this catalog unchanged. Wraps any other value in an error of the `unknown` code, as its `cause`. */
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
   * The last case of the union, with a null code, is an unknown code or one whose details don't match its schema.
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
