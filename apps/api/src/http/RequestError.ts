import type { Refusal, Scope } from "@outreach/contract"
import type { LegacyErrorCode, PartnerErrorCode } from "@outreach/contract/catalogs"
import type { RateLimitDecision } from "@outreach/rate-limit"

/** Reason for an error response, with its content in both envelopes. */
export interface RequestError {
  readonly _tag: "RequestError"
  readonly code: PartnerErrorCode
  /** Code in the legacy envelope. Default: the same code if the envelope has it, otherwise `INTERNAL_ERROR`. */
  readonly legacy?: LegacyErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the code's status. */
  readonly status?: number
  /** The window of the key over its limit. Without it, `RATE_LIMITED` is about the caller's address. */
  readonly window?: RateLimitDecision
}

type Content = Omit<RequestError, "_tag" | "code" | "message">

const create = (code: PartnerErrorCode, message: string, content: Content = {}): RequestError => ({
  ...{ _tag: "RequestError", code, message },
  ...content,
})

/** The error of a parameter, or of a header or the body. */
export const badRequest = ({ code, message, parameter }: Refusal): RequestError =>
  create(code, message, { legacy: "VALIDATION_ERROR", details: { parameter } })

export const invalidParameter = (
  parameter: string,
  problem: string,
  code: "INVALID_PARAMETER" | "MISSING_PARAMETER" = "INVALID_PARAMETER",
): RequestError => badRequest({ code, parameter, message: `${parameter}: ${problem}` })

/** All other errors. */
export const RequestError = {
  NotFound: create("NOT_FOUND", "No such path."),
  MethodNotAllowed: (allow: string) =>
    create("METHOD_NOT_ALLOWED", `The path answers ${allow}.`, { headers: { Allow: allow } }),
  Unauthorized: create("UNAUTHORIZED", "The bearer credential is missing, malformed, expired or revoked.", {
    headers: { "WWW-Authenticate": "Bearer" },
  }),
  InvalidSignature: create(
    "INVALID_SIGNATURE",
    "X-Signature is missing, malformed, more than 5 minutes away from now, or not of this body by an active secret.",
  ),
  RateLimited: (retryAfter: number, window?: RateLimitDecision) =>
    create(
      "RATE_LIMITED",
      `${window ? "The key exceeded its rate limit" : "Too many requests without a good key"}; wait ${retryAfter} s.`,
      { headers: { "Retry-After": String(retryAfter) }, ...(window && { window }) },
    ),
  InsufficientScope: (scope: Scope) =>
    create("INSUFFICIENT_SCOPE", `The key lacks the scope ${scope}.`, { details: { scope } }),
  NotAcceptable: create("NOT_ACCEPTABLE", "The answer is application/json, which the Accept header leaves out."),
  UnsupportedMediaType: create("UNSUPPORTED_MEDIA_TYPE", "The body must be sent without a Content-Encoding."),
  PayloadTooLarge: (maxBytes: number) =>
    create("PAYLOAD_TOO_LARGE", `The body exceeds ${maxBytes} bytes.`, { details: { max_bytes: maxBytes } }),
  IdempotencyKeyReused: create("IDEMPOTENCY_KEY_REUSED", "The Idempotency-Key was given before, with another request."),
  IdempotencyKeyInUse: create(
    "IDEMPOTENCY_KEY_IN_USE",
    "The same request with this Idempotency-Key is still running.",
    { details: { retry_after: 1 } },
  ),
  TokenNotFound: create("TOKEN_NOT_FOUND", "There is no record for the token."),
  NotServed: (operation: string) =>
    create("INTERNAL_ERROR", `The operation ${operation} is not served yet.`, {
      legacy: "NOT_IMPLEMENTED",
      status: 501,
    }),
  Unavailable: create("SERVICE_UNAVAILABLE", "The service cannot answer for the moment.", {
    details: { retry_after: 5 },
  }),
  Defect: create("INTERNAL_ERROR", "Something went wrong on our side; the request id helps us to find it."),
} as const
