import { type Operation, operations } from "@outreach/contract"
import {
  type LegacyErrorCode,
  legacyCodes,
  type PartnerErrorCode,
  partnerCatalog,
  type Retryability,
} from "@outreach/error-catalog"
import { commaSeparated, type Html, html, type Part, prose } from "./html.ts"
import { keysOf, linkList, section, table } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"

/** What a caller does about each code of the catalog. */
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

/** What a caller does about each code of the legacy envelope. */
const legacyAdvice = {
  VALIDATION_ERROR: "Each of `errors` names a `path` in the survey and the rule.",
  UNAUTHORIZED: "As above.",
  METHOD_NOT_ALLOWED: "As above.",
  RATE_LIMITED: "As above: the drafts count in the same window.",
  INTERNAL_ERROR: "As above.",
  NOT_IMPLEMENTED: "Do not call it yet. Its schema is published for review and may change without notice.",
  SERVICE_UNAVAILABLE: "Try again with exponential backoff.",
} as const satisfies Record<LegacyErrorCode, string>

const RETRYABLE = {
  no: "No: something has to change first",
  after_retry_after: "Yes, once Retry-After has passed",
  backoff: "Yes, with exponential backoff",
} as const satisfies Record<Retryability, string>

// Errors of its type are not retried. This code alone among them says that the request is right and came too early.
const retry: Partial<Record<PartnerErrorCode, string>> = {
  IDEMPOTENCY_KEY_IN_USE: "Yes, once the first request has ended",
}

const codeSection = (name: PartnerErrorCode): Html => {
  const { type, status, condition } = partnerCatalog.codes[name]
  const by = Object.values<Operation>(operations).filter(
    ({ envelope, errors }) => envelope === "partner" && errors.some((error) => error === name),
  )
  return section(
    name,
    html`<code>${name}</code>`,
    html`<dl>
<dt>Status</dt><dd>${status}</dd>
<dt>Type</dt><dd><code>${type}</code></dd>
<dt>Retry</dt><dd>${retry[name] ?? RETRYABLE[partnerCatalog.retryability(type)]}</dd>
<dt>When</dt><dd>${prose(condition)}</dd>
<dt>What to do</dt><dd>${prose(advice[name])}</dd>
<dt>Answered by</dt><dd>${by.length === 0 ? "any path" : commaSeparated(by.map(operationLink))}</dd>
</dl>`,
  )
}

const operationLink = ({ operationId, summary }: Operation): Part =>
  html`<a href="reference#${operationId}">${summary.toLowerCase()}</a>`

const legacySection = (name: LegacyErrorCode): Html => {
  const { status, condition } = legacyCodes[name]
  return section(
    `legacy-${name}`,
    html`<code>${name}</code>`,
    html`<dl>
<dt>Status</dt><dd>${status}</dd>
<dt>When</dt><dd>${prose(condition)}</dd>
<dt>What to do</dt><dd>${prose(legacyAdvice[name])}</dd>
</dl>`,
  )
}

const example = (docsUrl: string): string =>
  JSON.stringify(
    partnerCatalog.envelope("INVALID_PARAMETER", {
      message: "limit: must be an integer from 1 to 500",
      requestId: "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8",
      docsUrl,
      details: { parameter: "limit" },
    }),
    null,
    2,
  )

const CODES = keysOf(partnerCatalog.codes)

/** The values of the page of errors; the section of a code is where the `doc_url` of its error leads. */
export const errorValues = (docsUrl: string): GuideValues => ({
  errorExample: example(docsUrl),
  errorTypes: table(
    "Types of errors",
    ["type", "status", "retry"],
    keysOf(partnerCatalog.types).map((type) => {
      const rows = CODES.map((name) => partnerCatalog.codes[name]).filter((row) => row.type === type)
      return [
        html`<code>${type}</code>`,
        [...new Set(rows.map(({ status }) => status))].sort().join(", "),
        RETRYABLE[partnerCatalog.types[type].retryable],
      ]
    }),
  ),
  errorIndex: linkList(CODES.map((name) => [name, name])),
  errorCodes: CODES.map(codeSection),
  legacyErrorCodes: keysOf(legacyCodes).map(legacySection),
})
