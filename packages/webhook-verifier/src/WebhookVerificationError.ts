/** Why a webhook was refused; the set only grows within a major version. */
export type WebhookVerificationErrorCode =
  | "missing_header"
  | "malformed_header"
  | "timestamp_out_of_tolerance"
  | "no_match"
  | "malformed_body"
  | "no_secrets"
  | "empty_secret"
  | "too_many_secrets"
  | "invalid_json"
  | "not_an_event"
  | "body_too_large"
  | "body_already_parsed"
  | "broken_body"
  | "invalid_options"

// 401: not from the service. 400: from the service, but no event. The rest is the receiver's own trouble: 500, so that the event comes again.
const statuses: { readonly [Code in WebhookVerificationErrorCode]?: number } = {
  missing_header: 401,
  malformed_header: 401,
  timestamp_out_of_tolerance: 401,
  no_match: 401,
  invalid_json: 400,
  not_an_event: 400,
  body_too_large: 413,
}

/** A webhook is not accepted. It holds a code and a fixed text: never the body, the header or a secret. */
export class WebhookVerificationError extends Error {
  override readonly name: string = "WebhookVerificationError"
  readonly code: WebhookVerificationErrorCode
  /** The HTTP status to answer: 4xx where the same request can never be good, 500 where the receiver is at fault. */
  readonly status: number

  constructor(code: WebhookVerificationErrorCode, fix = "") {
    super(code.replaceAll("_", " ") + fix)
    this.code = code
    this.status = statuses[code] ?? 500
  }
}
