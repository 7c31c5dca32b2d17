/** Reason for rejecting a signature or its input. Minor versions may add codes, but don't remove any. */
export type SignatureErrorCode =
  | "missing_header"
  | "malformed_header"
  | "timestamp_out_of_tolerance"
  | "no_match"
  | "malformed_body"
  | "no_secrets"
  | "empty_secret"
  | "too_many_secrets"

/** Thrown when a signature can't be created or isn't valid. Contains only a code: never the body, the header or a secret. */
export class SignatureError extends Error {
  override readonly name: string = "SignatureError"
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode) {
    // Messages for each code would add a fifth to the browser bundle.
    super(code.replaceAll("_", " "))
    this.code = code
  }
}
