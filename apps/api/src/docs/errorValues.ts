import { type Operation, operations } from "@outreach/contract"
import {
  type LegacyErrorCode,
  legacyCodes,
  type PartnerErrorCode,
  partnerCatalog,
  type Retryability,
} from "@outreach/error-catalog"
import { advice, legacyAdvice } from "./advice.ts"
import { commaSeparated, type Html, html, type Part, prose } from "./html.ts"
import { keysOf, linkList, section, table } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"

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
