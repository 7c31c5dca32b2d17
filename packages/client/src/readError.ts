import type { PartnerErrorType } from "@outreach/error-catalog"
import { parseRetryAfter } from "@outreach/retry-policy"
import { ApiError, type ApiErrorFields } from "./ApiError.ts"
import type { Answer } from "./exchange.ts"

const BY_STATUS: Readonly<Record<number, PartnerErrorType>> = {
  401: "authentication_error",
  403: "permission_error",
  409: "idempotency_error",
  429: "rate_limit_error",
}

/** Reads an answer of an address that is not a success: the partner envelope, the legacy envelope, a redirect, or none of them. */
export function readError({ status, header, text }: Answer, url: string): ApiError {
  const error = isRedirect(status) ? { message: redirectMessage(status, url, header("Location")) } : errorOf(text)
  const { origin } = new URL(url)
  const { code = null, message = `${origin} answered ${status} without saying why`, details = null } = error
  return new ApiError({
    status,
    type: error.type ?? BY_STATUS[status] ?? (status < 500 ? "invalid_request_error" : "api_error"),
    code,
    message,
    requestId: error.request_id ?? header("X-Request-Id"),
    retryAfter: secondsOf(header("Retry-After"), header("Date")) ?? secondsOf(String(details?.["retry_after"]), null),
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

// Browsers answer 0 for a redirect that is not followed.
function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status <= 399 && status !== 304)
}

function redirectMessage(status: number, url: string, location: string | null): string {
  const target = location === null ? "" : ` to ${targetOf(location, url)}`
  return `${new URL(url).origin} answered with a redirect${status === 0 ? "" : ` (${status})`}${target}, which is not followed, so that the API key reaches nobody else: the service never redirects, so give its own address as baseUrl, with https where it has it`
}

/** Returns a redirect's whole address, without what may be a secret. */
function targetOf(location: string, url: string): string {
  try {
    const { origin, pathname } = new URL(location, url)
    return origin + pathname
  } catch {
    return "an address that is not valid"
  }
}

/** Reads `Retry-After`: seconds, or a date, which counts from the answer's own `Date` where it has one. */
function secondsOf(value: string | null, date: string | null): number | null {
  const milliseconds = parseRetryAfter(value, { date, now: Date.now() })
  return milliseconds === undefined ? null : milliseconds / 1000
}
