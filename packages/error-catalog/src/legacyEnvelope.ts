/** The codes of the legacy envelope, each with its HTTP status and condition. */
export const legacyCodes = {
  VALIDATION_ERROR: { status: 400, condition: "the submitted survey or query is not valid; `errors` says where" },
  UNAUTHORIZED: { status: 401, condition: "bearer missing, malformed, expired or revoked" },
  METHOD_NOT_ALLOWED: {
    status: 405,
    condition: "the path does not serve the method; `Allow` names those that it serves",
  },
  RATE_LIMITED: { status: 429, condition: "key exceeded its rate limit; `Retry-After` present" },
  INTERNAL_ERROR: { status: 500, condition: "unexpected server error" },
  NOT_IMPLEMENTED: { status: 501, condition: "the endpoint is a draft and is not served" },
  SERVICE_UNAVAILABLE: { status: 503, condition: "the service cannot answer for the moment" },
} as const

/** A code of the legacy envelope. */
export type LegacyErrorCode = keyof typeof legacyCodes

/** One fault in a submitted survey. */
export interface LegacyErrorItem {
  readonly code: string
  /** Location in the submitted survey. */
  readonly path: string
  readonly message: string
}

/** The body of an error response of the survey and upload endpoints. */
export interface LegacyEnvelope<Code extends LegacyErrorCode = LegacyErrorCode> {
  readonly error: {
    readonly code: Code
    readonly message: string
    readonly errors?: readonly LegacyErrorItem[]
  }
}

/** Builds a legacy error body; `errors` is absent unless given. Source: Outreach Partner API specification, Errors, Legacy envelope. */
export function legacyEnvelope<Code extends LegacyErrorCode>(
  code: Code,
  message: string,
  errors?: readonly LegacyErrorItem[],
): LegacyEnvelope<Code> {
  return { error: { code, message, ...(errors === undefined ? {} : { errors }) } }
}
