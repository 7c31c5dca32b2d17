import type { ErrorCode, ErrorCodes, ErrorTypes, Retry } from "./ErrorCodes.ts"
import type { InputOf, StandardSchema } from "./StandardSchema.ts"

/** A throwable error of a catalog. */
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
  /** Seconds; null if the caller doesn't have to wait. */
  readonly retryAfter: number | null
  /** Response headers, including `Retry-After` but not the content type. */
  readonly headers: Readonly<Record<string, string>>
  /** Builds the response body. */
  readonly toBody: (...context: Arguments<Context>) => object
  /** Builds a Fetch `Response`. */
  readonly toResponse: (...context: Arguments<Context>) => FetchResponse
}

/** All errors of a catalog as a union, or the errors of one code. */
export type CatalogErrors<Codes extends ErrorCodes, Context extends object, Code extends keyof Codes = keyof Codes> = {
  [Name in Code & string]: CatalogError<Name, Codes[Name]["type"], DetailsOf<Codes[Name]>, Context>
}[Code & string]

/** Options of one error. `details` is required if the code has a schema, `retryAfter` if its type is retried after a wait. */
export type Occurrence<Types extends ErrorTypes, Row extends ErrorCode> = {
  /** Message for people; must not contain secrets. Default: the code's title. */
  readonly message?: string | undefined
  /** Response headers. Invalid characters, such as line breaks, become spaces. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For logs. Never part of a response. */
  readonly cause?: unknown
} & DetailsOption<Row> &
  RetryAfterOption<Types[Row["type"]]["retry"]>

// If the code is a union, the options must satisfy each member, hence the intersection.
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

type RetryAfterOption<Kind extends Retry> = "after" extends Kind ? Delay<number> : Partial<Delay<number | undefined>>
interface Delay<Seconds> {
  /** Seconds until the same request may be sent again, for `Retry-After`. */
  readonly retryAfter: Seconds
}

/** Makes an argument optional if none of its properties is required. */
export type Arguments<Options> = Record<never, never> extends Options ? [options?: Options] : [options: Options]

/** A Fetch `Response`, if the platform's types include one. */
export type FetchResponse = typeof globalThis extends { readonly Response: { readonly prototype: infer Response } }
  ? Response
  : object
