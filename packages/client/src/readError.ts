import { legacyCatalog, type PartnerErrorType, partnerCatalog } from "@outreach/contract/catalogs"
import { parseRetryAfter } from "@outreach/retry-policy"
import { ApiError, type ApiErrorFields } from "./ApiError.ts"
import type { Answer } from "./exchange.ts"

const BY_STATUS: Readonly<Record<number, PartnerErrorType>> = {
  401: "authentication_error",
  403: "permission_error",
  409: "idempotency_error",
  429: "rate_limit_error",
}

/** Converts an unsuccessful response to an error: partner envelope, legacy envelope, redirect, or other content. */
export function readError({ status, header, ...answer }: Answer, url: string): ApiError {
  const text = isRedirect(status) ? "" : answer.text
  const partner = partnerCatalog.parse(text, { status, headers: { get: header } })
  const legacy = legacyCatalog.parse(text)
  const said = partner.code === null && partner.unknownCode === null ? legacy : partner
  // Browsers hide the `Date` header of other origins.
  const milliseconds = parseRetryAfter(header("Retry-After"), { date: header("Date"), now: Date.now })
  return new ApiError({
    status,
    // Future codes and types are strings that this version doesn't list.
    type:
      (partner.type as PartnerErrorType | null) ??
      BY_STATUS[status] ??
      (status < 500 ? "invalid_request_error" : "api_error"),
    code: said.code ?? (said.unknownCode as ApiErrorFields["code"]),
    message: isRedirect(status)
      ? redirectMessage(status, url, header("Location"))
      : (said.message ?? `${new URL(url).origin} answered ${status} without saying why`),
    requestId: partner.requestId ?? header("X-Request-Id"),
    retryAfter: milliseconds === undefined ? said.retryAfter : milliseconds / 1000,
    details: partner.details,
    errors: (legacy.details?.["errors"] ?? []) as ApiErrorFields["errors"],
    docUrl: partner.docUrl,
  })
}

// Browsers report status 0 for a redirect that isn't followed.
function isRedirect(status: number): boolean {
  return status === 0 || (status >= 300 && status <= 399 && status !== 304)
}

function redirectMessage(status: number, url: string, location: string | null): string {
  const target = location === null ? "" : ` to ${targetOf(location, url)}`
  return `${new URL(url).origin} answered with a redirect${status === 0 ? "" : ` (${status})`}${target}, which is not followed, so that the API key reaches nobody else: the service never redirects, so give its own address as baseUrl, with https where it has it`
}

/** Returns the absolute URL of a redirect, without parts that may contain secrets. */
function targetOf(location: string, url: string): string {
  try {
    const { origin, pathname } = new URL(location, url)
    return origin + pathname
  } catch {
    return "an address that is not valid"
  }
}
