import type { StandardSchema } from "./StandardSchema.ts"

/** Whether the same request may be retried: never, after `Retry-After`, or with exponential backoff. */
export type Retry = "no" | "after" | "backoff"

/** Error types by name. Callers branch on them, even for codes they don't know yet. */
export type ErrorTypes = Readonly<Record<string, { readonly retry: Retry }>>

/** One row of a catalog's table of codes. */
export interface ErrorCode<Type extends string = string> {
  readonly type: Type
  /** HTTP status of the response, 400–599. */
  readonly status: number
  /** Meaning of the code in one sentence. Default message of its errors. */
  readonly title: string
  /** When the error occurs, in Markdown, for the reference page. Default: the title. */
  readonly description?: string
  /** How a caller should react, in Markdown, for the reference page. */
  readonly advice?: string
  /** Headers of every response with this code, such as `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Schema of the details. Without one, details are optional and untyped. */
  readonly details?: StandardSchema
  /** Details for the OpenAPI example. */
  readonly example?: object
}

/** Error codes by name, each with one of the catalog's types. */
export type ErrorCodes<Type extends string = string> = Readonly<Record<string, ErrorCode<Type>>>
