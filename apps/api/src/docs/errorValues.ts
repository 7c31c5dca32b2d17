import { type Operation, operations } from "@outreach/contract"
import {
  definePartnerCatalog,
  type LegacyErrorCode,
  legacyCatalog,
  type PartnerErrorCode,
  partnerCatalog,
} from "@outreach/contract/catalogs"
import { markdown } from "@outreach/error-catalog/markdown"
import type { GuideTexts, GuideValues } from "./renderGuide.ts"

/** Remedy for each code of the catalog. */
const advice = {
  UNAUTHORIZED:
    "Send `Authorization: Bearer <API_KEY>` with a key of this deployment: a test key is not known in production, nor a live key elsewhere. If the key may have leaked or has ended, ask for a new one.",
  INSUFFICIENT_SCOPE: "`details.scope` names the scope that the key lacks. Ask for a key that has it.",
  INVALID_TOKEN: "A token is exactly 6 letters and digits, and their case matters. Take it from the link as it is.",
  INVALID_CAMPAIGN_ID: "Use the id with its prefix, as in `service_campaign_id` of a recipient record or an event.",
  TOKEN_NOT_FOUND:
    "No recipient of your organization has this token. Check the token, and that the key is of the organization it was issued for.",
  MISSING_PARAMETER: "`details.parameter` names what is missing. Add it.",
  INVALID_PARAMETER:
    "`details.parameter` names the parameter and `message` the rule. Unknown parameters are refused as well, so that a misspelt filter never returns everything. A `+` in the offset of a time must be sent as `%2B`. A refused `cursor` belongs to another list, other filters or another key's organization: begin again without it.",
  INVALID_EXPAND: "The reference lists what each endpoint expands.",
  INVALID_TYPE_FILTER: "The feed carries the four `outreach.email_*` types and no others.",
  IDEMPOTENCY_KEY_REUSED: "Use a new key for every new request. A key is valid for one method, path, query and body.",
  IDEMPOTENCY_KEY_IN_USE:
    "Wait for `details.retry_after` seconds and send the same request with the same key: you get the response of the first one.",
  RATE_LIMITED: "Wait as many seconds as `Retry-After` says. Earlier attempts are refused and count too.",
  INTERNAL_ERROR: "Try again with exponential backoff. If it lasts, tell us the `request_id`.",
  NOT_FOUND: "Check the path: letters are compared with their case, and a trailing slash is another path.",
  METHOD_NOT_ALLOWED: "Use a method that `Allow` names.",
  NOT_ACCEPTABLE: "Accept `application/json`, or leave `Accept` out.",
  PAYLOAD_TOO_LARGE: "Send a smaller body: `details.max_bytes` says how much is taken.",
  UNSUPPORTED_MEDIA_TYPE:
    "Send the body without a `Content-Encoding`: the signature covers the bytes as they are sent. Any `Content-Type` is taken.",
  INVALID_SIGNATURE:
    "Sign the bytes that you send, with a secret of this endpoint and the time of this attempt. The page on webhooks shows how.",
  SERVICE_UNAVAILABLE: "Try again with exponential backoff, first after `details.retry_after` seconds.",
} as const satisfies Record<PartnerErrorCode, string>

/** Remedy for each code of the legacy envelope. */
const legacyAdvice = {
  VALIDATION_ERROR: "Each of `errors` names a `path` in the survey and the rule.",
  UNAUTHORIZED: "As above.",
  METHOD_NOT_ALLOWED: "As above.",
  RATE_LIMITED: "As above: the drafts count in the same window.",
  INTERNAL_ERROR: "As above.",
  NOT_IMPLEMENTED: "Do not call it yet. Its schema is published for review and may change without notice.",
  SERVICE_UNAVAILABLE: "Try again with exponential backoff.",
} as const satisfies Record<LegacyErrorCode, string>

// Errors of this type aren't retried, except this code: the request is valid, but came too early.
const retry: Partial<Record<PartnerErrorCode, { readonly Retry: string }>> = {
  IDEMPOTENCY_KEY_IN_USE: { Retry: "Yes, once the first request has ended" },
}

const answeredBy = (code: PartnerErrorCode): string => {
  const rows = Object.values<Operation>(operations).filter(
    ({ envelope, errors }) => envelope === "partner" && errors.some((error) => error === code),
  )
  return rows.map((row) => `[${row.summary.toLowerCase()}](reference#${row.operationId})`).join(", ") || "any path"
}

/** Texts of the errors page. The `doc_url` of each error points to its section. */
export const errorTexts: GuideTexts = {
  errorTypes: markdown(partnerCatalog, { part: "types" }),
  errorIndex: markdown(partnerCatalog, { part: "index" }),
  errorCodes: markdown(partnerCatalog, {
    part: "codes",
    rows: (code, rows) => ({
      ...rows,
      ...retry[code],
      "What to do": advice[code],
      "Answered by": answeredBy(code),
    }),
  }),
  legacyErrorCodes: markdown(legacyCatalog, {
    part: "codes",
    anchor: (code) => `legacy-${code}`,
    rows: (code, { Status = "", When = "" }) => ({ Status, When, "What to do": legacyAdvice[code] }),
  }),
}

export const errorValues = (docsUrl: string): GuideValues => ({
  errorExample: JSON.stringify(
    definePartnerCatalog(docsUrl).body("INVALID_PARAMETER", {
      message: "limit: must be an integer from 1 to 500",
      requestId: "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8",
      details: { parameter: "limit" },
    }),
    null,
    2,
  ),
})
