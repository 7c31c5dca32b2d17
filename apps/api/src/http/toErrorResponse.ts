import type { Refusal as BadRequest, Scope } from "@outreach/contract"
import type { Caller } from "@outreach/domain/organizations/ApiKey"
import {
  type ErrorDetails,
  type LegacyErrorCode,
  legacyCodes,
  legacyEnvelope,
  partnerCatalog,
} from "@outreach/error-catalog"
import type { RateLimitDecision } from "@outreach/rate-limit"
import { Data } from "effect"
import type { OperationResponse } from "./encode.ts"
import type { ResponseContext } from "./ResponseContext.ts"

type NoDetails = Record<never, never>

/** Why a request gets no response of its operation. */
export type RequestError = Data.TaggedEnum<{
  NotFound: NoDetails
  MethodNotAllowed: { readonly allow: string }
  Unauthorized: NoDetails
  InvalidSignature: NoDetails
  /** With the key that is over its limit, and its window; without them, the address of the caller is over its own. */
  RateLimited: {
    readonly retryAfter: number
    readonly over?: { readonly window: RateLimitDecision; readonly caller: Caller }
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

/** Seconds that a caller is told to wait when the service cannot answer. */
const UNAVAILABLE_SECONDS = 5
/** Seconds that a caller is told to wait while the same request is still running. */
const IN_USE_SECONDS = 1

/** Returns an error in the envelope of its operation, without the headers that every error carries. */
export function toErrorResponse(error: RequestError, context: ResponseContext, docsUrl: string): OperationResponse {
  const { requestId, operation, envelope } = context

  const say = (
    code: Exclude<BadRequest["code"], "MISSING_PARAMETER" | "INVALID_PARAMETER">,
    message: string,
    more: { readonly status?: number; readonly details?: ErrorDetails; readonly headers?: Record<string, string> } = {},
  ): OperationResponse => {
    const { details, headers = {} } = more
    if (envelope === "legacy") return sayLegacy(message, headers)
    const body = partnerCatalog.envelope(code, { message, requestId, docsUrl, details })
    return { status: more.status ?? partnerCatalog.httpStatus(code), body, headers }
  }
  const sayLegacy = (message: string, headers: Record<string, string> = {}): OperationResponse => {
    const code = legacyCodeOf(error)
    return { status: legacyCodes[code].status, body: legacyEnvelope(code, message), headers }
  }

  switch (error._tag) {
    case "NotFound":
      return say("NOT_FOUND", "No such path.")
    case "MethodNotAllowed":
      return say("METHOD_NOT_ALLOWED", `The path answers ${error.allow}.`, { headers: { Allow: error.allow } })
    case "Unauthorized":
      return say("UNAUTHORIZED", "The bearer credential is missing, malformed, expired or revoked.", {
        headers: { "WWW-Authenticate": "Bearer" },
      })
    case "InvalidSignature":
      return say(
        "INVALID_SIGNATURE",
        "X-Signature is missing, malformed, more than 5 minutes away from now, or not of this body by an active secret.",
      )
    case "RateLimited": {
      const { over, retryAfter } = error
      const what = over ? "The key exceeded its rate limit" : "Too many requests without a good key"
      return say("RATE_LIMITED", `${what}; wait ${retryAfter} s.`, { headers: { "Retry-After": String(retryAfter) } })
    }
    case "InsufficientScope":
      return say("INSUFFICIENT_SCOPE", `The key lacks the scope ${error.scope}.`, {
        details: { scope: error.scope },
      })
    case "NotAcceptable":
      return say("NOT_ACCEPTABLE", "The answer is application/json, which the Accept header leaves out.")
    case "BadRequest": {
      const { code, message, parameter } = error
      if (envelope === "legacy") return sayLegacy(message)
      const body = partnerCatalog.envelope(code, { message, requestId, docsUrl, details: { parameter } })
      return { status: partnerCatalog.httpStatus(code), body, headers: {} }
    }
    case "UnsupportedMediaType":
      return say("UNSUPPORTED_MEDIA_TYPE", "The body must be sent without a Content-Encoding.")
    case "PayloadTooLarge":
      return say("PAYLOAD_TOO_LARGE", `The body exceeds ${error.maxBytes} bytes.`, {
        details: { max_bytes: error.maxBytes },
      })
    case "IdempotencyKeyReused":
      return say("IDEMPOTENCY_KEY_REUSED", "The Idempotency-Key was given before, with another request.")
    case "IdempotencyKeyInUse":
      return say("IDEMPOTENCY_KEY_IN_USE", "The same request with this Idempotency-Key is still running.", {
        details: { retry_after: IN_USE_SECONDS },
      })
    case "TokenNotFound":
      return say("TOKEN_NOT_FOUND", "There is no record for the token.")
    case "NotServed":
      return say("INTERNAL_ERROR", `The operation ${operation} is not served yet.`, { status: 501 })
    case "Unavailable":
      return say("SERVICE_UNAVAILABLE", "The service cannot answer for the moment.", {
        details: { retry_after: UNAVAILABLE_SECONDS },
      })
    case "Defect":
      return say("INTERNAL_ERROR", "Something went wrong on our side; the request id helps us to find it.")
  }
}

const legacyCodeOf = ({ _tag }: RequestError): LegacyErrorCode => {
  switch (_tag) {
    case "Unauthorized":
      return "UNAUTHORIZED"
    case "RateLimited":
      return "RATE_LIMITED"
    case "BadRequest":
      return "VALIDATION_ERROR"
    case "NotServed":
      return "NOT_IMPLEMENTED"
    case "MethodNotAllowed":
      return "METHOD_NOT_ALLOWED"
    case "Unavailable":
      return "SERVICE_UNAVAILABLE"
    default:
      return "INTERNAL_ERROR"
  }
}
