const messages = {
  missing_header: "There is no signature header",
  malformed_header: "The signature header is not of the form t=<unix-seconds>,v1=<hex>[,v1=<hex>...]",
  timestamp_out_of_tolerance: "The signature's timestamp is too far from the verifier's clock",
  no_match: "No v1 entry of the signature header matches any secret",
  malformed_body: "The body is neither bytes nor a well-formed string; pass the raw body, before any parsing",
  no_secrets: "There is no secret",
  empty_secret: "A secret is empty",
  too_many_secrets: "There are more than 16 secrets",
} as const satisfies Record<SignatureErrorCode, string>

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

/** A refusal to sign or to accept a signature. It holds a code alone: never the body, the header or a secret. */
export class SignatureError extends Error {
  override readonly name: string = "SignatureError"
  readonly code: SignatureErrorCode

  constructor(code: SignatureErrorCode) {
    super(messages[code])
    this.code = code
  }
}
