import { defineCatalog, type Envelope, type ErrorCatalog, type StandardSchema } from "@outreach/error-catalog"
import { type PartnerContext, partnerEnvelope } from "@outreach/error-catalog/partner"

/** Details of a parameter error; may contain further members. */
const Parameter: StandardSchema<{ readonly parameter: string; readonly [member: string]: unknown }> = {
  "~standard": {
    version: 1,
    vendor: "outreach",
    validate: (value) =>
      typeof (value as { parameter?: unknown } | null | undefined)?.parameter === "string"
        ? { value: value as { parameter: string } }
        : { issues: [{ message: "parameter: must name the parameter" }] },
  },
}

const types = {
  authentication_error: { retry: "no" },
  invalid_request_error: { retry: "no" },
  permission_error: { retry: "no" },
  rate_limit_error: { retry: "after" },
  idempotency_error: { retry: "no" },
  api_error: { retry: "backoff" },
} as const

/** Creates the definition of a code. */
/* @__NO_SIDE_EFFECTS__ */
function row<const Type extends keyof typeof types, const Status extends number, const Title extends string>(
  type: Type,
  status: Status,
  title: Title,
): { readonly type: Type; readonly status: Status; readonly title: Title } {
  return { type, status, title }
}

const codes = {
  UNAUTHORIZED: row("authentication_error", 401, "bearer missing, malformed, expired or revoked"),
  INSUFFICIENT_SCOPE: row("permission_error", 403, "token lacks the required scope"),
  INVALID_TOKEN: row("invalid_request_error", 400, "URL token does not match `[0-9A-Za-z]{6}`"),
  INVALID_CAMPAIGN_ID: row("invalid_request_error", 400, "campaign id is not the `cmp_<hex>` form"),
  TOKEN_NOT_FOUND: row("invalid_request_error", 404, "no record for the token"),
  MISSING_PARAMETER: {
    ...row("invalid_request_error", 400, "a required query or body parameter is missing"),
    details: Parameter,
    example: { parameter: "since" },
  },
  INVALID_PARAMETER: {
    ...row("invalid_request_error", 400, "parameter present but wrong type, format or value"),
    details: Parameter,
    example: { parameter: "since" },
  },
  INVALID_EXPAND: row("invalid_request_error", 400, "value in `expand[]` not allowed for the endpoint"),
  INVALID_TYPE_FILTER: row("invalid_request_error", 400, "value in `type` or `types[]` outside the allowed enum"),
  IDEMPOTENCY_KEY_REUSED: row("idempotency_error", 409, "same `Idempotency-Key` with a different body"),
  RATE_LIMITED: row("rate_limit_error", 429, "key exceeded its rate limit; `Retry-After` present"),
  INTERNAL_ERROR: row("api_error", 500, "unexpected server error"),

  // Additions to the specification's table.
  NOT_FOUND: row("invalid_request_error", 404, "no such path"),
  METHOD_NOT_ALLOWED: row(
    "invalid_request_error",
    405,
    "the path does not answer this method; `Allow` names those it does",
  ),
  NOT_ACCEPTABLE: row("invalid_request_error", 406, "`Accept` allows no media type of the endpoint"),
  PAYLOAD_TOO_LARGE: row("invalid_request_error", 413, "request body is larger than the endpoint takes"),
  UNSUPPORTED_MEDIA_TYPE: row(
    "invalid_request_error",
    415,
    "request body has a `Content-Encoding`, which the endpoint does not take",
  ),
  IDEMPOTENCY_KEY_IN_USE: row(
    "idempotency_error",
    409,
    "the first request with the same `Idempotency-Key` is still running",
  ),
  INVALID_SIGNATURE: row(
    "authentication_error",
    401,
    "webhook `X-Signature` missing, malformed, outside the replay window or matching no active secret",
  ),
  SERVICE_UNAVAILABLE: row("api_error", 503, "the service cannot answer for the moment"),
} as const

export type PartnerErrorType = keyof typeof types

export type PartnerErrorCode = keyof typeof codes

/** The error catalog of the Outreach Partner API. Source: its specification, Errors, Partner envelope. */
export type PartnerCatalog = ErrorCatalog<typeof types, typeof codes, PartnerContext>

/** Creates the partner catalog. `doc_url` points to the published guides at `docsUrl`, with or without a trailing slash. */
export function definePartnerCatalog(docsUrl: string): PartnerCatalog {
  const page = `${docsUrl.replace(/\/+$/, "")}/errors`
  return defineCatalog({
    types,
    codes,
    envelope: partnerEnvelope,
    docUrl: (code) => `${page}#${code}`,
    isDocUrl: (url, code) => url.endsWith(`/errors#${code}`),
    unknown: "INTERNAL_ERROR",
  })
}

/** The partner catalog for readers and examples. Its `doc_url` is a placeholder. */
export const partnerCatalog: PartnerCatalog = /* @__PURE__ */ definePartnerCatalog("https://docs.outreach.test")

const legacyCodes = {
  VALIDATION_ERROR: row(
    "invalid_request_error",
    400,
    "the submitted survey or query is invalid; `errors` lists the faults",
  ),
  UNAUTHORIZED: codes.UNAUTHORIZED,
  METHOD_NOT_ALLOWED: row(
    "invalid_request_error",
    405,
    "the path does not serve the method; `Allow` names those that it serves",
  ),
  RATE_LIMITED: codes.RATE_LIMITED,
  INTERNAL_ERROR: codes.INTERNAL_ERROR,
  // Drafts don't become available by retrying.
  NOT_IMPLEMENTED: row("invalid_request_error", 501, "the endpoint is a draft and is not served"),
  SERVICE_UNAVAILABLE: codes.SERVICE_UNAVAILABLE,
} as const

export type LegacyErrorCode = keyof typeof legacyCodes

/** The simpler envelope of the survey and upload endpoints. `errors` is in the details, and is omitted if not given. */
const legacyEnvelope: Envelope = {
  contentType: "application/json",
  write: ({ code, message, details }) => ({ error: { code, message, ...details } }),
  read: ({ error }) => {
    if (typeof error !== "object" || error === null) return undefined
    const { code, message, errors } = error as Record<string, unknown>
    if (typeof code !== "string" || typeof message !== "string") return undefined
    return { code, message, details: Array.isArray(errors) ? { errors } : null }
  },
  schema: () => ({ $ref: "#/components/schemas/LegacyError" }),
}

/** The catalog of the survey and upload endpoints. Source: the specification, Errors, Legacy envelope. */
export const legacyCatalog: ErrorCatalog<typeof types, typeof legacyCodes> = /* @__PURE__ */ defineCatalog({
  types,
  codes: legacyCodes,
  envelope: legacyEnvelope,
  docUrl: (code) => `https://docs.outreach.test/errors#legacy-${code}`,
  unknown: "INTERNAL_ERROR",
})
