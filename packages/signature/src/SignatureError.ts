/** Why signing or verifying was refused; the set only grows within a major version. */
export type SignatureErrorCode =
  | "missing_header"
  | "malformed_header"
  | "timestamp_out_of_tolerance"
  | "no_match"
  | "malformed_body"
  | "no_secrets"
  | "empty_secret"
  | "too_many_secrets"

/** A signature cannot be made, or is not accepted. It holds a code alone: never the body, the header or a secret. */
export class SignatureError extends Error {
  override readonly name: string = "SignatureError"
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode) {
    // A sentence for each code would be a fifth of what a browser loads.
    super(code.replaceAll("_", " "))
    this.code = code
  }
}
