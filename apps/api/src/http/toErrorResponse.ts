import type { Refusal as BadRequest, Scope } from "@outreach/contract"
import {
  type ErrorDetails,
  type LegacyErrorCode,
  legacyCodes,
  legacyEnvelope,
  partnerCatalog,
} from "@outreach/error-catalog"
import type { OperationResponse } from "./encode.ts"
import type { ResponseContext } from "./ResponseContext.ts"

/** Why a request gets no answer of its operation. */
export type RequestError =
  | { readonly reason: "not found" }
  | { readonly reason: "method not allowed"; readonly allow: string }
  | { readonly reason: "unauthorized" }
  | { readonly reason: "invalid signature" }
  | { readonly reason: "rate limited"; readonly who: "key" | "address"; readonly retryAfter: number }
  | { readonly reason: "insufficient scope"; readonly scope: Scope }
  | { readonly reason: "not acceptable" }
  | ({ readonly reason: "bad request" } & BadRequest)
  | { readonly reason: "unsupported media type" }
  | { readonly reason: "payload too large"; readonly maxBytes: number }
  | { readonly reason: "idempotency key reused" }
  | { readonly reason: "idempotency key in use" }
  | { readonly reason: "token not found" }
  | { readonly reason: "not served" }
  | { readonly reason: "unavailable" }
  | { readonly reason: "defect" }

/** Seconds that a caller is asked to wait when the service cannot answer. */
const UNAVAILABLE_SECONDS = 5
/** Seconds that a caller is asked to wait while the same request is still running. */
const IN_USE_SECONDS = 1

/** Returns a refusal in the envelope of its operation, without the headers that every refusal carries. */
export function toErrorResponse(refusal: RequestError, exchange: ResponseContext, docsUrl: string): OperationResponse {
  const { requestId, operation, envelope } = exchange

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
    const code = legacyCodeOf(refusal)
    return { status: legacyCodes[code].status, body: legacyEnvelope(code, message), headers }
  }

  switch (refusal.reason) {
    case "not found":
      return say("NOT_FOUND", "No such path.")
    case "method not allowed":
      return say("METHOD_NOT_ALLOWED", `The path answers ${refusal.allow}.`, { headers: { Allow: refusal.allow } })
    case "unauthorized":
      return say("UNAUTHORIZED", "The bearer credential is missing, malformed, expired or revoked.", {
        headers: { "WWW-Authenticate": "Bearer" },
      })
    case "invalid signature":
      return say(
        "INVALID_SIGNATURE",
        "X-Signature is missing, malformed, more than 5 minutes away from now, or not of this body by an active secret.",
      )
    case "rate limited": {
      const { who, retryAfter } = refusal
      const what = who === "key" ? "The key exceeded its rate limit" : "Too many requests without a good key"
      return say("RATE_LIMITED", `${what}; wait ${retryAfter} s.`, { headers: { "Retry-After": String(retryAfter) } })
    }
    case "insufficient scope":
      return say("INSUFFICIENT_SCOPE", `The key lacks the scope ${refusal.scope}.`, {
        details: { scope: refusal.scope },
      })
    case "not acceptable":
      return say("NOT_ACCEPTABLE", "The answer is application/json, which the Accept header leaves out.")
    case "bad request": {
      const { code, message, parameter } = refusal
      if (envelope === "legacy") return sayLegacy(message)
      const body = partnerCatalog.envelope(code, { message, requestId, docsUrl, details: { parameter } })
      return { status: partnerCatalog.httpStatus(code), body, headers: {} }
    }
    case "unsupported media type":
      return say("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json, without a content coding.")
    case "payload too large":
      return say("PAYLOAD_TOO_LARGE", `The body exceeds ${refusal.maxBytes} bytes.`, {
        details: { max_bytes: refusal.maxBytes },
      })
    case "idempotency key reused":
      return say("IDEMPOTENCY_KEY_REUSED", "The Idempotency-Key was given before, with another request.")
    case "idempotency key in use":
      return say("IDEMPOTENCY_KEY_IN_USE", "The same request with this Idempotency-Key is still running.", {
        details: { retry_after: IN_USE_SECONDS },
      })
    case "token not found":
      return say("TOKEN_NOT_FOUND", "There is no record for the token.")
    case "not served":
      return say("INTERNAL_ERROR", `The operation ${operation} is not served yet.`, { status: 501 })
    case "unavailable":
      return say("SERVICE_UNAVAILABLE", "The service cannot answer for the moment.", {
        details: { retry_after: UNAVAILABLE_SECONDS },
      })
    case "defect":
      return say("INTERNAL_ERROR", "Something went wrong on our side; the request id helps us to find it.")
  }
}

const legacyCodeOf = ({ reason }: RequestError): LegacyErrorCode => {
  switch (reason) {
    case "unauthorized":
      return "UNAUTHORIZED"
    case "rate limited":
      return "RATE_LIMITED"
    case "bad request":
      return "VALIDATION_ERROR"
    case "not served":
      return "NOT_IMPLEMENTED"
    case "method not allowed":
      return "METHOD_NOT_ALLOWED"
    case "unavailable":
      return "SERVICE_UNAVAILABLE"
    default:
      return "INTERNAL_ERROR"
  }
}
