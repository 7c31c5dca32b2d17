import type { ErrorCode, ErrorCodes, ErrorTypes, Retry } from "./ErrorCatalog.ts"
import type { InputOf, StandardSchema } from "./StandardSchema.ts"

/** An error of a catalog, to throw. */
export interface CatalogError<
  Code extends string = string,
  Type extends string = string,
  Details = object | null,
  Context extends object = object,
> extends Error {
  readonly name: "CatalogError"
  readonly code: Code
  readonly type: Type
  readonly status: number
  readonly retry: Retry
  readonly details: Details
  /** Seconds; null when the caller is not told to wait. */
  readonly retryAfter: number | null
  /** Of the response, `Retry-After` among them, without the type of its content. */
  readonly headers: Readonly<Record<string, string>>
  /** Builds the body of the response. */
  readonly toBody: (...context: Arguments<Context>) => object
  /** Builds the whole response, for what speaks Fetch. */
  readonly toResponse: (...context: Arguments<Context>) => FetchResponse
}

/** The errors of a catalog as a union, or of one of its codes. */
export type CatalogErrors<Codes extends ErrorCodes, Context extends object, Code extends keyof Codes = keyof Codes> = {
  [Name in Code & string]: CatalogError<Name, Codes[Name]["type"], DetailsOf<Codes[Name]>, Context>
}[Code & string]

/** What one occurrence adds to its code; `details` is required where the code has a schema, `retryAfter` where its type is retried after it. */
export type Occurrence<Types extends ErrorTypes, Row extends ErrorCode> = {
  /** What happened, for a human; never a secret. Default: the code's title. */
  readonly message?: string | undefined
  /** Response headers. Characters that no header may hold, such as line breaks, become spaces. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For your log: it never reaches a body. */
  readonly cause?: unknown
} & DetailsOption<Row> &
  RetryAfterOption<Types[Row["type"]]["retry"]>

// A code known only as a union must satisfy what each of its members requires, hence the intersection.
type DetailsOption<Row> = (
  Row extends { readonly details: infer Schema extends StandardSchema }
    ? (option: { readonly details: InputOf<Schema> }) => void
    : (option: { readonly details?: FreeDetails | undefined }) => void
) extends (option: infer Option) => void
  ? Option
  : never

type DetailsOf<Row> = Row extends { readonly details: infer Schema extends StandardSchema }
  ? InputOf<Schema>
  : FreeDetails

/** Details of a code without a schema. */
type FreeDetails = Readonly<Record<string, unknown>> | null

type RetryAfterOption<Kind extends Retry> = "after" extends Kind
  ? { /** Seconds until the same request may be sent again, for `Retry-After`. */ readonly retryAfter: number }
  : {
      /** Seconds until the same request may be sent again, for `Retry-After`. */ readonly retryAfter?:
        | number
        | undefined
    }

/** An argument that may be left out where nothing in it is required. */
export type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options]

/** A Fetch `Response`, where the types of the platform have one. */
export type FetchResponse = typeof globalThis extends { readonly Response: { readonly prototype: infer Response } }
  ? Response
  : object
