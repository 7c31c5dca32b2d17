/** Reason for rejecting a cursor or a position. Minor versions may add codes, but don't remove any. */
export type CursorErrorCode =
  /** Not text that a codec can produce. */
  | "malformed"
  /** Made by another version of the format. */
  | "unsupported_version"
  /** Altered, or made with a different key or scope. */
  | "not_authentic"
  /** Older than `expiresAfter`, or made by a codec without it. */
  | "expired"
  /** The schema rejects the position, or it contains values other than JSON, bigints and dates. */
  | "invalid_position"
  /** The cursor would be longer than 2,048 characters. */
  | "position_too_large"
  /** The schema validates asynchronously, which is not supported. */
  | "asynchronous_schema"

/** Thrown when a cursor can't be decoded or encoded. Contains neither the cursor nor the position. */
export class CursorError extends Error {
  override readonly name: string = "CursorError"
  readonly code: CursorErrorCode

  constructor(code: CursorErrorCode, options?: { readonly cause?: unknown }) {
    super(`cursor: ${code.replaceAll("_", " ")}`, options)
    this.code = code
  }
}
