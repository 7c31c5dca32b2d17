/** Reason for rejecting a webhook. Minor versions may add codes, but don't remove any. */
export type WebhookVerificationErrorCode =
  | "missing_header"
  | "malformed_header"
  | "timestamp_out_of_tolerance"
  | "no_match"
  | "malformed_body"
  | "no_secrets"
  | "empty_secret"
  | "too_many_secrets"
  | "malformed_secret"
  | "invalid_json"
  | "not_an_event"
  | "schema_mismatch"
  | "body_too_large"
  | "body_already_parsed"
  | "broken_body"
  | "not_a_request"
  | "invalid_options"

// 401: not sent by the service. 400: sent by the service, but not an event. Other faults are the receiver's: 500, so that the service retries.
const CODES: { readonly [Code in WebhookVerificationErrorCode]: readonly [status: number, advice: string] } = {
  missing_header: [401, "There is no X-Signature: let proxies pass it on"],
  malformed_header: [401, "X-Signature is not t=<seconds>,v1=<hex>: pass it on unchanged"],
  timestamp_out_of_tolerance: [401, "It was signed too long ago or ahead: set the clock, or give receivedAt"],
  no_match: [401, "No secret signed these bytes: npx @outreach/webhook-verifier verify tells why"],
  invalid_json: [400, "What was signed is not JSON: tell the service"],
  not_an_event: [400, "What was signed is not an event: tell the service"],
  body_too_large: [413, "The body is over maxBytes: no event is"],
  schema_mismatch: [500, "Your schema refuses a genuine event: see issues and cause, and loosen it"],
  malformed_body: [500, "The body is neither bytes nor text: pass the raw body"],
  body_already_parsed: [500, "The body was parsed before: "],
  broken_body: [500, "The body broke off: if that repeats, raise limits before this"],
  not_a_request: [500, "Call verify({ headers, body }) with all headers as they came"],
  no_secrets: [500, "There are no secrets: give 1 to 16"],
  empty_secret: [500, "A secret is empty: set its environment variable"],
  too_many_secrets: [500, "Over 16 secrets: remove ended ones"],
  malformed_secret: [500, "A secret has a comma, line break, outer quotes or spaces: give it as issued"],
  invalid_options: [500, ""],
}

/** A schema violation and its path. Contains values only if the schema's own message quotes them. */
export interface SchemaIssue {
  readonly message: string
  readonly path: readonly PropertyKey[]
}

/** Thrown when a webhook is rejected. The message describes the remedy and never contains the body, the header or a secret. */
export class WebhookVerificationError extends Error {
  override readonly name: string = "WebhookVerificationError"
  readonly code: WebhookVerificationErrorCode
  /** HTTP status of the response: 4xx if the same request can never be accepted, 500 if the receiver is at fault. */
  readonly status: number
  /** For `schema_mismatch`: the violations that the receiver's own schema reported. */
  declare readonly issues?: readonly SchemaIssue[]

  constructor(
    code: WebhookVerificationErrorCode,
    advice = "",
    { issues, ...options }: { readonly issues?: readonly SchemaIssue[]; readonly cause?: unknown } = {},
  ) {
    super(`${CODES[code][1]}${advice} (https://npmjs.com/package/@outreach/webhook-verifier#errors)`, options)
    this.code = code
    this.status = CODES[code][0]
    if (issues) this.issues = issues
  }
}
