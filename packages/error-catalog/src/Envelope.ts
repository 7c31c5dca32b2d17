import type { JsonSchema } from "./StandardSchema.ts"

/** One occurrence of an error, as an envelope writes it. */
export interface WrittenError {
  readonly code: string
  readonly type: string
  readonly status: number
  /** What the code means, the same in each occurrence. */
  readonly title: string
  /** What happened this time; the title unless given. */
  readonly message: string
  readonly details: object | null
  readonly docUrl: string
  /** Seconds; null when the caller is not told to wait. */
  readonly retryAfter: number | null
}

/** What an envelope finds in a body; each member is checked by the catalog, and a missing one is welcome. */
export interface ReadError<Context> {
  readonly code?: unknown
  readonly type?: unknown
  readonly status?: unknown
  readonly message?: unknown
  readonly details?: unknown
  readonly docUrl?: unknown
  readonly retryAfter?: unknown
  readonly context?: Partial<Context>
}

/**
 * The form of an error's body. `Context` is what a body holds beside its error, such as the id of the request.
 *
 * Write your own for a form that is not built in.
 */
export interface Envelope<Context extends object = object> {
  readonly contentType: string
  readonly write: (error: WrittenError, context: Context) => object
  /** Finds the error in a JSON object that anybody may have written; undefined where there is none. */
  readonly read: (body: Readonly<Record<string, unknown>>) => ReadError<Context> | undefined
  /** The JSON Schema of a code's body; `details` is that of its details. */
  readonly schema: (
    error: Pick<WrittenError, "code" | "type" | "status" | "docUrl">,
    details: JsonSchema | undefined,
  ) => JsonSchema
}
