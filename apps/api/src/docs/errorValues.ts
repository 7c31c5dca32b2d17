import { type Operation, operations } from "@outreach/contract"
import {
  definePartnerCatalog,
  type LegacyErrorCode,
  legacyCatalog,
  type PartnerErrorCode,
  partnerCatalog,
} from "@outreach/contract/catalogs"
import { markdown } from "@outreach/error-catalog/markdown"
import type { GuideValues } from "./renderGuide.ts"

/** Remedy for each code of the catalog. */
const advice = {
  UNAUTHORIZED:
    "Send `Authorization: Bearer <API_KEY>` with a key of this deployment: test keys don't work in production, and live keys only there. If the key may have leaked or has expired, request a new one.",
  INSUFFICIENT_SCOPE: "`details.scope` is the missing scope. Request a key that has it.",
  INVALID_TOKEN: "A token has exactly 6 letters and digits, and is case-sensitive. Copy it unchanged from the link.",
  INVALID_CAMPAIGN_ID: "Use the id with its prefix, as in `service_campaign_id` of a recipient record or an event.",
  TOKEN_NOT_FOUND:
    "No recipient of your organization has this token. Check the token, and that the key belongs to the right organization.",
  MISSING_PARAMETER: "Add the parameter in `details.parameter`.",
  INVALID_PARAMETER:
    "`details.parameter` is the parameter, and `message` describes the rule. Unknown parameters are rejected too, so that a misspelt filter doesn't return everything. Send a `+` in the offset of a time as `%2B`. A rejected `cursor` belongs to another list, other filters or another organization: start again without it.",
  INVALID_EXPAND: "See the reference for the values that each endpoint accepts.",
  INVALID_TYPE_FILTER: "The feed contains only the four `outreach.email_*` types.",
  IDEMPOTENCY_KEY_REUSED: "Use a new key for every new request. A key is valid for one method, path, query and body.",
  IDEMPOTENCY_KEY_IN_USE:
    "Wait `details.retry_after` seconds and send the same request with the same key: you receive the first request's response.",
  RATE_LIMITED: "Wait for the seconds in `Retry-After`. Earlier requests are rejected and count too.",
  INTERNAL_ERROR: "Retry with exponential backoff. If the error persists, contact us with the `request_id`.",
  NOT_FOUND: "Check the path: it is case-sensitive, and a trailing slash makes a different path.",
  METHOD_NOT_ALLOWED: "Use a method listed in the `Allow` header.",
  NOT_ACCEPTABLE: "Accept `application/json`, or omit `Accept`.",
  PAYLOAD_TOO_LARGE: "Send a smaller body, at most `details.max_bytes`.",
  UNSUPPORTED_MEDIA_TYPE:
    "Send the body without a `Content-Encoding`: the signature covers the sent bytes. Any `Content-Type` is accepted.",
  INVALID_SIGNATURE: "Sign the sent bytes with a secret of this endpoint and the current time. See the webhooks page.",
  SERVICE_UNAVAILABLE: "Retry with exponential backoff, first after `details.retry_after` seconds.",
} as const satisfies Record<PartnerErrorCode, string>

/** Remedy for each code of the legacy envelope. */
const legacyAdvice = {
  VALIDATION_ERROR: "Each item of `errors` has a `path` in the survey and the violated rule.",
  UNAUTHORIZED: "As above.",
  METHOD_NOT_ALLOWED: "As above.",
  RATE_LIMITED: "As above: the drafts count in the same window.",
  INTERNAL_ERROR: "As above.",
  NOT_IMPLEMENTED: "Don't call it yet. Its schema is published for review and may change without notice.",
  SERVICE_UNAVAILABLE: "Retry with exponential backoff.",
} as const satisfies Record<LegacyErrorCode, string>

// Errors of this type aren't retried, except this code: the request is valid, but came too early.
const retry: Partial<Record<PartnerErrorCode, { readonly Retry: string }>> = {
  IDEMPOTENCY_KEY_IN_USE: { Retry: "Yes, after the first request has finished" },
}

const answeredBy = (code: PartnerErrorCode): string => {
  const rows = Object.values<Operation>(operations).filter(
    ({ envelope, errors }) => envelope === "partner" && errors.some((error) => error === code),
  )
  return rows.map((row) => `[${row.summary.toLowerCase()}](reference#${row.operationId})`).join(", ") || "any path"
}

/** Makes the anchors of sections ids of their headings, as in the guides. */
const withIds = (sections: string): string => sections.replaceAll(/^### <a id="(.+)"><\/a>(.+)$/gm, "### $2 {#$1}")

/** Values of the errors page. The `doc_url` of each error points to its section. */
export const errorValues: GuideValues = {
  errorExample: JSON.stringify(
    definePartnerCatalog("{{docsUrl}}").body("MISSING_PARAMETER", {
      message: "since: is required",
      requestId: "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8",
      details: { parameter: "since" },
    }),
    null,
    2,
  ),
  errorTypes: markdown(partnerCatalog, { part: "types" }),
  errorIndex: markdown(partnerCatalog, { part: "index" }),
  errorCodes: withIds(
    markdown(partnerCatalog, {
      part: "codes",
      rows: (code, rows) => ({ ...rows, ...retry[code], "What to do": advice[code], "Returned by": answeredBy(code) }),
    }),
  ),
  legacyErrorCodes: withIds(
    markdown(legacyCatalog, {
      part: "codes",
      anchor: (code) => `legacy-${code}`,
      rows: (code, { Status = "", When = "" }) => ({ Status, When, "What to do": legacyAdvice[code] }),
    }),
  ),
}
