import type { JsonSchema } from "./StandardSchema.ts"

/** Values of one error that an envelope writes. */
export interface WrittenError {
  readonly code: string
  readonly type: string
  readonly status: number
  /** The code's meaning, the same for each occurrence. */
  readonly title: string
  /** Message of this occurrence. Default: the title. */
  readonly message: string
  readonly details: object | null
  readonly docUrl: string
  /** Seconds; null if the caller doesn't have to wait. */
  readonly retryAfter: number | null
}

/** Values that an envelope found in a body. The catalog validates each. All are optional; a body with another service's `docUrl` is ignored. */
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
 * The format of an error body. `Context` contains the fields next to the error, such as the request id.
 *
 * Implement this interface for a custom format.
 */
export interface Envelope<Context extends object = object> {
  readonly contentType: string
  readonly write: (error: WrittenError, context: Context) => object
  /** Finds the error in an untrusted JSON object. Returns undefined if the object doesn't have this format. */
  readonly read: (body: Readonly<Record<string, unknown>>) => ReadError<Context> | undefined
  /** JSON Schema of a code's body; `details` is the schema of its details. */
  readonly schema: (
    error: Pick<WrittenError, "code" | "type" | "status" | "docUrl">,
    details: JsonSchema | undefined,
  ) => JsonSchema
}
