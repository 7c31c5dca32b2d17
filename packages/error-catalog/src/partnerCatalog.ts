import { defineCatalog, type ErrorCatalog } from "./defineCatalog.ts"

const types = {
  authentication_error: { retryable: "no" },
  invalid_request_error: { retryable: "no" },
  permission_error: { retryable: "no" },
  rate_limit_error: { retryable: "after_retry_after" },
  idempotency_error: { retryable: "no" },
  api_error: { retryable: "backoff" },
} as const

const codes = {
  UNAUTHORIZED: {
    type: "authentication_error",
    status: 401,
    condition: "bearer missing, malformed, expired or revoked",
  },
  INSUFFICIENT_SCOPE: {
    type: "permission_error",
    status: 403,
    condition: "token lacks the required scope",
  },
  INVALID_TOKEN: {
    type: "invalid_request_error",
    status: 400,
    condition: "URL token does not match `[0-9A-Za-z]{6}`",
  },
  INVALID_CAMPAIGN_ID: {
    type: "invalid_request_error",
    status: 400,
    condition: "campaign id is not the `cmp_<hex>` form",
  },
  TOKEN_NOT_FOUND: {
    type: "invalid_request_error",
    status: 404,
    condition: "no record for the token",
  },
  MISSING_PARAMETER: {
    type: "invalid_request_error",
    status: 400,
    condition: "a required query or body parameter is missing",
    details: { parameter: "string" },
  },
  INVALID_PARAMETER: {
    type: "invalid_request_error",
    status: 400,
    condition: "parameter present but wrong type, format or value",
    details: { parameter: "string" },
  },
  INVALID_EXPAND: {
    type: "invalid_request_error",
    status: 400,
    condition: "value in `expand[]` not allowed for the endpoint",
  },
  INVALID_TYPE_FILTER: {
    type: "invalid_request_error",
    status: 400,
    condition: "value in `type` or `types[]` outside the allowed enum",
  },
  IDEMPOTENCY_KEY_REUSED: {
    type: "idempotency_error",
    status: 409,
    condition: "same `Idempotency-Key` with a different body",
  },
  RATE_LIMITED: {
    type: "rate_limit_error",
    status: 429,
    condition: "key exceeded its rate limit; `Retry-After` present",
  },
  INTERNAL_ERROR: {
    type: "api_error",
    status: 500,
    condition: "unexpected server error",
  },

  // Beyond the specification's table, which only grows.
  NOT_FOUND: {
    type: "invalid_request_error",
    status: 404,
    condition: "no such path",
  },
  METHOD_NOT_ALLOWED: {
    type: "invalid_request_error",
    status: 405,
    condition: "the path does not answer this method; `Allow` names those it does",
  },
  NOT_ACCEPTABLE: {
    type: "invalid_request_error",
    status: 406,
    condition: "`Accept` admits nothing that the endpoint can answer with",
  },
  PAYLOAD_TOO_LARGE: {
    type: "invalid_request_error",
    status: 413,
    condition: "request body is larger than the endpoint takes",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    type: "invalid_request_error",
    status: 415,
    condition: "request body has a `Content-Encoding`, which the endpoint does not take",
  },
  IDEMPOTENCY_KEY_IN_USE: {
    type: "idempotency_error",
    status: 409,
    condition: "the first request with the same `Idempotency-Key` is still running",
  },
  INVALID_SIGNATURE: {
    type: "authentication_error",
    status: 401,
    condition: "webhook `X-Signature` missing, malformed, outside the replay window or matching no active secret",
  },
  SERVICE_UNAVAILABLE: {
    type: "api_error",
    status: 503,
    condition: "the service cannot answer for the moment",
  },
} as const

/** An error type of the Outreach Partner API. */
export type PartnerErrorType = keyof typeof types

/** An error code of the Outreach Partner API. */
export type PartnerErrorCode = keyof typeof codes

/** The error catalog of the Outreach Partner API. Source: its specification, Errors, Partner envelope. */
export const partnerCatalog: ErrorCatalog<typeof types, typeof codes> = /* @__PURE__ */ defineCatalog({ types, codes })
