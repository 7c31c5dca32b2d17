import type { Refusal as BadRequest, OperationId, Scope } from "@outreach/contract"
import {
  type ErrorDetails,
  type LegacyErrorCode,
  legacyCodes,
  legacyEnvelope,
  partnerCatalog,
} from "@outreach/error-catalog"
import { type RateLimitDecision, rateLimitHeaders } from "@outreach/rate-limit"
import type { HttpServerResponse } from "effect/http"
import { untouchedWindow } from "./admit.ts"
import { encode } from "./encode.ts"

/** Why a request gets no answer of its operation. */
export type Refusal =
  | { readonly reason: "not found" }
  | { readonly reason: "method not allowed"; readonly allow: string }
  | { readonly reason: "unauthorized" }
  | { readonly reason: "rate limited"; readonly retryAfter: number }
  | { readonly reason: "insufficient scope"; readonly scope: Scope }
  | ({ readonly reason: "bad request" } & BadRequest)
  | { readonly reason: "token not found" }
  | { readonly reason: "not served" }
  | { readonly reason: "unavailable" }
  | { readonly reason: "defect" }

/** What is known of a request so far, as far as its refusal depends on it. */
export interface Exchange {
  readonly requestId: string
  readonly operation: OperationId | undefined
  readonly envelope: "partner" | "legacy"
  /** The caller's window; undefined while nobody was charged. */
  readonly window: RateLimitDecision | undefined
}

/** Seconds that a caller is asked to wait when the service cannot answer. */
const UNAVAILABLE_SECONDS = 5

/** Answers a refusal in the envelope of its operation; `now` is in Unix seconds. */
export function refuse(
  refusal: Refusal,
  exchange: Exchange,
  { docsUrl, now }: { readonly docsUrl: string; readonly now: number },
): HttpServerResponse.HttpServerResponse {
  const { requestId, operation, envelope, window = untouchedWindow(now) } = exchange
  const headers = { ...rateLimitHeaders(window), "X-Request-Id": requestId }

  const say = (
    code: Exclude<BadRequest["code"], "MISSING_PARAMETER" | "INVALID_PARAMETER">,
    message: string,
    more: { readonly status?: number; readonly details?: ErrorDetails; readonly headers?: Record<string, string> } = {},
  ) => {
    if (envelope === "legacy") return sayLegacy(message, more.headers)
    return encode({
      status: more.status ?? partnerCatalog.httpStatus(code),
      body: partnerCatalog.envelope(code, { message, requestId, docsUrl, details: more.details }),
      headers: { ...headers, ...more.headers },
    })
  }
  const sayLegacy = (message: string, more: Record<string, string> = {}) => {
    const code = legacyCodeOf(refusal)
    return encode({
      status: legacyCodes[code].status,
      body: legacyEnvelope(code, message),
      headers: { ...headers, ...more },
    })
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
    case "rate limited":
      return say("RATE_LIMITED", `The key exceeded its rate limit; wait ${refusal.retryAfter} s.`)
    case "insufficient scope":
      return say("INSUFFICIENT_SCOPE", `The key lacks the scope ${refusal.scope}.`, {
        details: { scope: refusal.scope },
      })
    case "bad request": {
      const { code, message, parameter } = refusal
      if (envelope === "legacy") return sayLegacy(message)
      return encode({
        status: partnerCatalog.httpStatus(code),
        body: partnerCatalog.envelope(code, { message, requestId, docsUrl, details: { parameter } }),
        headers,
      })
    }
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

const legacyCodeOf = ({ reason }: Refusal): LegacyErrorCode => {
  switch (reason) {
    case "unauthorized":
      return "UNAUTHORIZED"
    case "rate limited":
      return "RATE_LIMITED"
    case "bad request":
      return "VALIDATION_ERROR"
    case "not served":
      return "NOT_IMPLEMENTED"
    default:
      return "INTERNAL_ERROR"
  }
}
