import type { Arguments, CatalogErrors, Occurrence } from "./CatalogError.ts"
import type { Envelope } from "./Envelope.ts"
import type { ParsedError, ResponseHead } from "./parse.ts"
import type { StandardSchema } from "./StandardSchema.ts"

/** Whether the same request may be sent again: never, once `Retry-After` has passed, or with exponential backoff. */
export type Retry = "no" | "after" | "backoff"

/** The types of a catalog by name: what callers branch on, also for codes that they do not know yet. */
export type ErrorTypes = Readonly<Record<string, { readonly retry: Retry }>>

/** One row of a catalog's table of codes. */
export interface ErrorCode<Type extends string = string> {
  readonly type: Type
  /** HTTP status of the response, 400–599. */
  readonly status: number
  /** What the code means, in a sentence; the message of an occurrence that has none of its own. */
  readonly title: string
  /** When it comes, in Markdown, for the page of codes. Default: the title. */
  readonly description?: string
  /** What a caller does about it, in Markdown, for the page of codes. */
  readonly advice?: string
  /** Headers of each response with it, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The schema of its details. Without one, details are optional and free-form. */
  readonly details?: StandardSchema
  /** Details for its example in OpenAPI. */
  readonly example?: object
}

/** The codes of a catalog by name; each has one of the catalog's types. */
export type ErrorCodes<Type extends string = string> = Readonly<Record<string, ErrorCode<Type>>>

/** What a catalog is made of. */
export interface CatalogOptions<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object> {
  readonly types: Types
  readonly codes: Codes
  /** The form of the bodies: `problemJson`, `partnerEnvelope` or your own. */
  readonly envelope: Envelope<Context>
  /** The address of a code in your documentation. */
  readonly docUrl: (code: string) => string
  /** The code of everything that is thrown and is not of this catalog. */
  readonly unknown: keyof Codes & string
  /** Holds details against their schema whenever an error is made, as in development. Default: false, because the compiler does. */
  readonly checkDetails?: boolean
}

/** A catalog: its two tables, and functions that work detached from the object. */
export interface ErrorCatalog<Types extends ErrorTypes, Codes extends ErrorCodes, Context extends object = object> {
  readonly types: Types
  readonly codes: Codes
  readonly envelope: Envelope<Context>
  readonly docUrl: (code: string) => string
  /** Creates an error to throw; throws `RangeError` on a code that the catalog lacks. */
  readonly error: <Code extends keyof Codes & string>(
    code: Code,
    ...options: Arguments<Occurrence<Types, Codes[Code]>>
  ) => CatalogErrors<Codes, Context, Code>
  /** Reports whether a value is an error of this catalog, also when another copy of the package made it. */
  readonly is: (caught: unknown) => caught is CatalogErrors<Codes, Context>
  /** Returns an error of this catalog as it is; for anything else the error of `unknown`, with it as its `cause`. */
  readonly from: (caught: unknown) => CatalogErrors<Codes, Context>
  /** Builds the response for what was caught; nothing of what is not of this catalog gets into it. */
  readonly respond: (caught: unknown, ...context: Arguments<Context>) => ErrorResponse
  /** Builds a body without an error, whose stack trace takes most of the time; throws `RangeError` on a code that the catalog lacks. */
  readonly body: <Code extends keyof Codes & string>(
    code: Code,
    options: Omit<Occurrence<Types, Codes[Code]>, "headers" | "cause"> & Context,
  ) => object
  /**
   * Reads the body of an error response, as JSON or as text, whatever it is; the response's status and `Retry-After` count too.
   *
   * The last case, with a null code, is a code that the catalog lacks, or whose details do not fit its schema.
   */
  readonly parse: (body: unknown, response?: ResponseHead) => ParsedError<Codes, Context>
  /** Reports whether an error of this type may be retried; "no" for a type that the catalog lacks. */
  readonly retry: (type: string) => Retry
}

/** A response, for what does not speak Fetch. */
export interface ErrorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}
