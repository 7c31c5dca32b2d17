/** Why a cursor was refused; the set only grows within a major version. */
export type CursorErrorCode =
  | "malformed"
  | "unsupported_version"
  | "not_authentic"
  | "invalid_position"
  | "position_too_large"
  | "asynchronous_schema"

const messages = {
  malformed: "The cursor is not one that this codec could have made",
  unsupported_version: "The cursor is of another version",
  not_authentic: "The cursor was altered, or made with another key or for another scope",
  invalid_position: "The position does not satisfy the schema, or is not plain JSON",
  position_too_large: "The position makes a cursor of more than 2048 characters",
  asynchronous_schema: "The schema validates asynchronously, which is not supported",
} as const satisfies Record<CursorErrorCode, string>

/** A cursor cannot be read or made. It holds neither the cursor nor the position. */
export class CursorError extends Error {
  override readonly name: string = "CursorError"
  readonly code: CursorErrorCode

  constructor(code: CursorErrorCode, options?: { readonly cause?: unknown }) {
    super(messages[code], options)
    this.code = code
  }
}
