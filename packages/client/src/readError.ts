import type { PartnerErrorType } from "@outreach/error-catalog"
import { ApiError, type ApiErrorFields } from "./ApiError.ts"
import type { Answer } from "./exchange.ts"

const BY_STATUS: Readonly<Record<number, PartnerErrorType>> = {
  401: "authentication_error",
  403: "permission_error",
  409: "idempotency_error",
  429: "rate_limit_error",
}

/** Reads an answer that is not a success: the partner envelope, the legacy envelope, or neither. */
export function readError({ status, header, text }: Answer): ApiError {
  const error = errorOf(text)
  const { code = null, message = `The service answered ${status} without saying why`, details = null } = error
  return new ApiError({
    status,
    type: error.type ?? BY_STATUS[status] ?? (status >= 400 && status < 500 ? "invalid_request_error" : "api_error"),
    code,
    message,
    requestId: error.request_id ?? header("X-Request-Id"),
    retryAfter: secondsOf(header("Retry-After") ?? details?.["retry_after"]),
    details,
    errors: error.errors ?? [],
    docUrl: error.doc_url ?? null,
  })
}

type WireError = Partial<Pick<ApiErrorFields, "type" | "code" | "message" | "details" | "errors">> & {
  readonly request_id?: string
  readonly doc_url?: string
}

function errorOf(text: string): WireError {
  try {
    const error: unknown = JSON.parse(text)?.error
    return typeof error === "object" && error !== null ? error : {}
  } catch {
    return {}
  }
}

// The header may also hold a date, which a proxy would write: then the backoff decides.
function secondsOf(value: unknown): number | null {
  const seconds = value === null || value === undefined || value === "" ? Number.NaN : Number(value)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}
