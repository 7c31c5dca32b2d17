/** Why a cursor was refused; the set only grows within a major version. */
export type CursorErrorCode =
  /** Not a text that a codec could have made. */
  | "malformed"
  /** Of another version of the format. */
  | "unsupported_version"
  /** Altered, or made with another key or for another scope. */
  | "not_authentic"
  /** Older than `expiresAfter`, or made by a codec without it. */
  | "expired"
  /** The schema refuses the position, or it holds more than JSON, bigints and dates. */
  | "invalid_position"
  /** The cursor would be longer than 2,048 characters. */
  | "position_too_large"
  /** The schema validates asynchronously, which is not supported. */
  | "asynchronous_schema"

/** A cursor cannot be read or made. It holds neither the cursor nor the position. */
export class CursorError extends Error {
  override readonly name: string = "CursorError"
  readonly code: CursorErrorCode

  constructor(code: CursorErrorCode, options?: { readonly cause?: unknown }) {
    super(`cursor: ${code.replaceAll("_", " ")}`, options)
    this.code = code
  }
}
