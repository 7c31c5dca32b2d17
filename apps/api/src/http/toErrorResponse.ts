import type { Refusal as BadRequest, OperationId, Scope } from "@outreach/contract"
import {
  type LegacyErrorCode,
  legacyCatalog,
  type PartnerCatalog,
  type PartnerErrorCode,
} from "@outreach/contract/catalogs"
import type { RateLimitDecision } from "@outreach/rate-limit"
import { Data } from "effect"
import type { OperationResponse } from "./encode.ts"
import type { ResponseContext } from "./ResponseContext.ts"

type NoDetails = Record<never, never>

/** Reason for an error response. */
export type RequestError = Data.TaggedEnum<{
  NotFound: NoDetails
  MethodNotAllowed: { readonly allow: string }
  Unauthorized: NoDetails
  InvalidSignature: NoDetails
  /** With the window of the key over its limit; without it, the caller's address is over its limit. */
  RateLimited: {
    readonly retryAfter: number
    readonly over?: RateLimitDecision
  }
  InsufficientScope: { readonly scope: Scope }
  NotAcceptable: NoDetails
  BadRequest: BadRequest
  UnsupportedMediaType: NoDetails
  PayloadTooLarge: { readonly maxBytes: number }
  IdempotencyKeyReused: NoDetails
  IdempotencyKeyInUse: NoDetails
  TokenNotFound: NoDetails
  NotServed: NoDetails
  Unavailable: NoDetails
  Defect: NoDetails
}>
export const RequestError = Data.taggedEnum<RequestError>()

/** The error of a parameter, or of a header or the body. The message consists of its name and the problem. */
export const invalidParameter = (
  parameter: string,
  problem: string,
  code: "INVALID_PARAMETER" | "MISSING_PARAMETER" = "INVALID_PARAMETER",
): RequestError => RequestError.BadRequest({ code, parameter, message: `${parameter}: ${problem}` })

/** Seconds until a retry when the service is unavailable. */
const UNAVAILABLE_SECONDS = 5
/** Seconds until a retry while the same request is still running. */
const IN_USE_SECONDS = 1

/** Fields of an error in both envelopes. */
interface ErrorRow {
  readonly code: PartnerErrorCode
  /** Code in the legacy envelope. Default: the same code if the envelope has it, otherwise `INTERNAL_ERROR`. */
  readonly legacy?: LegacyErrorCode
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
  /** Default: the code's status. */
  readonly status?: number
}

type ErrorOf<Tag extends RequestError["_tag"]> = Extract<RequestError, { readonly _tag: Tag }>

const ROWS: {
  readonly [Tag in RequestError["_tag"]]: (error: ErrorOf<Tag>, operation: OperationId | undefined) => ErrorRow
} = {
  NotFound: () => ({ code: "NOT_FOUND", message: "No such path." }),
  MethodNotAllowed: ({ allow }) => ({
    code: "METHOD_NOT_ALLOWED",
    message: `The path answers ${allow}.`,
    headers: { Allow: allow },
  }),
  Unauthorized: () => ({
    code: "UNAUTHORIZED",
    message: "The bearer credential is missing, malformed, expired or revoked.",
    headers: { "WWW-Authenticate": "Bearer" },
  }),
  InvalidSignature: () => ({
    code: "INVALID_SIGNATURE",
    message:
      "X-Signature is missing, malformed, more than 5 minutes away from now, or not of this body by an active secret.",
  }),
  RateLimited: ({ over, retryAfter }) => ({
    code: "RATE_LIMITED",
    message: `${over ? "The key exceeded its rate limit" : "Too many requests without a good key"}; wait ${retryAfter} s.`,
    headers: { "Retry-After": String(retryAfter) },
  }),
  InsufficientScope: ({ scope }) => ({
    code: "INSUFFICIENT_SCOPE",
    message: `The key lacks the scope ${scope}.`,
    details: { scope },
  }),
  NotAcceptable: () => ({
    code: "NOT_ACCEPTABLE",
    message: "The answer is application/json, which the Accept header leaves out.",
  }),
  BadRequest: ({ code, message, parameter }) => ({ code, legacy: "VALIDATION_ERROR", message, details: { parameter } }),
  UnsupportedMediaType: () => ({
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must be sent without a Content-Encoding.",
  }),
  PayloadTooLarge: ({ maxBytes }) => ({
    code: "PAYLOAD_TOO_LARGE",
    message: `The body exceeds ${maxBytes} bytes.`,
    details: { max_bytes: maxBytes },
  }),
  IdempotencyKeyReused: () => ({
    code: "IDEMPOTENCY_KEY_REUSED",
    message: "The Idempotency-Key was given before, with another request.",
  }),
  IdempotencyKeyInUse: () => ({
    code: "IDEMPOTENCY_KEY_IN_USE",
    message: "The same request with this Idempotency-Key is still running.",
    details: { retry_after: IN_USE_SECONDS },
  }),
  TokenNotFound: () => ({ code: "TOKEN_NOT_FOUND", message: "There is no record for the token." }),
  NotServed: (_, operation) => ({
    code: "INTERNAL_ERROR",
    legacy: "NOT_IMPLEMENTED",
    message: `The operation ${operation} is not served yet.`,
    status: 501,
  }),
  Unavailable: () => ({
    code: "SERVICE_UNAVAILABLE",
    message: "The service cannot answer for the moment.",
    details: { retry_after: UNAVAILABLE_SECONDS },
  }),
  Defect: () => ({
    code: "INTERNAL_ERROR",
    message: "Something went wrong on our side; the request id helps us to find it.",
  }),
}

/** Returns an error in its operation's envelope, without the headers that all errors have. */
export function toErrorResponse(
  error: RequestError,
  context: ResponseContext,
  catalog: PartnerCatalog,
): OperationResponse {
  const { requestId, operation, envelope } = context
  const rowOf = ROWS[error._tag] as (error: RequestError, operation: OperationId | undefined) => ErrorRow
  const { code, message, details, headers = {}, status, ...row } = rowOf(error, operation)
  if (envelope === "legacy") {
    const legacy = row.legacy ?? (isLegacy(code) ? code : "INTERNAL_ERROR")
    const body = legacyCatalog.body(legacy as "INTERNAL_ERROR", { message })
    return { status: legacyCatalog.codes[legacy].status, body, headers }
  }
  // The union of all codes would require the details of each.
  const body = catalog.body(code as "INTERNAL_ERROR", { message, details, requestId })
  return { status: status ?? catalog.codes[code].status, body, headers }
}

const isLegacy = (code: PartnerErrorCode): code is PartnerErrorCode & LegacyErrorCode => code in legacyCatalog.codes
