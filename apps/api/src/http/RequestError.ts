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

const create = (fields: Omit<RequestError, "_tag">): RequestError => ({ _tag: "RequestError", ...fields })

/** The error of a parameter, or of a header or the body. */
export const badRequest = ({ code, message, parameter }: Refusal): RequestError =>
  create({ code, legacy: "VALIDATION_ERROR", message, details: { parameter } })

export const invalidParameter = (
  parameter: string,
  problem: string,
  code: "INVALID_PARAMETER" | "MISSING_PARAMETER" = "INVALID_PARAMETER",
): RequestError => badRequest({ code, parameter, message: `${parameter}: ${problem}` })

/** All other errors. */
export const RequestError = {
  NotFound: create({ code: "NOT_FOUND", message: "No such path." }),
  MethodNotAllowed: (allow: string) =>
    create({ code: "METHOD_NOT_ALLOWED", message: `The path answers ${allow}.`, headers: { Allow: allow } }),
  Unauthorized: create({
    code: "UNAUTHORIZED",
    message: "The bearer credential is missing, malformed, expired or revoked.",
    headers: { "WWW-Authenticate": "Bearer" },
  }),
  InvalidSignature: create({
    code: "INVALID_SIGNATURE",
    message:
      "X-Signature is missing, malformed, more than 5 minutes away from now, or not of this body by an active secret.",
  }),
  RateLimited: (retryAfter: number, window?: RateLimitDecision) =>
    create({
      code: "RATE_LIMITED",
      message: `${window ? "The key exceeded its rate limit" : "Too many requests without a good key"}; wait ${retryAfter} s.`,
      headers: { "Retry-After": String(retryAfter) },
      ...(window && { window }),
    }),
  InsufficientScope: (scope: Scope) =>
    create({ code: "INSUFFICIENT_SCOPE", message: `The key lacks the scope ${scope}.`, details: { scope } }),
  NotAcceptable: create({
    code: "NOT_ACCEPTABLE",
    message: "The answer is application/json, which the Accept header leaves out.",
  }),
  UnsupportedMediaType: create({
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must be sent without a Content-Encoding.",
  }),
  PayloadTooLarge: (maxBytes: number) =>
    create({
      code: "PAYLOAD_TOO_LARGE",
      message: `The body exceeds ${maxBytes} bytes.`,
      details: { max_bytes: maxBytes },
    }),
  IdempotencyKeyReused: create({
    code: "IDEMPOTENCY_KEY_REUSED",
    message: "The Idempotency-Key was given before, with another request.",
  }),
  IdempotencyKeyInUse: create({
    code: "IDEMPOTENCY_KEY_IN_USE",
    message: "The same request with this Idempotency-Key is still running.",
    details: { retry_after: 1 },
  }),
  TokenNotFound: create({ code: "TOKEN_NOT_FOUND", message: "There is no record for the token." }),
  NotServed: (operation: string) =>
    create({
      code: "INTERNAL_ERROR",
      legacy: "NOT_IMPLEMENTED",
      message: `The operation ${operation} is not served yet.`,
      status: 501,
    }),
  Unavailable: create({
    code: "SERVICE_UNAVAILABLE",
    message: "The service cannot answer for the moment.",
    details: { retry_after: 5 },
  }),
  Defect: create({
    code: "INTERNAL_ERROR",
    message: "Something went wrong on our side; the request id helps us to find it.",
  }),
} as const
