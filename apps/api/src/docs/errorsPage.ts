import { type Operation, operations } from "@outreach/contract"
import {
  type LegacyErrorCode,
  legacyCodes,
  type PartnerErrorCode,
  partnerCatalog,
  type Retryability,
} from "@outreach/error-catalog"
import { advice, legacyAdvice } from "./advice.ts"
import { type Html, html, type Part, prose } from "./html.ts"
import { code, section, table } from "./layout.ts"

const RETRYABLE = {
  no: "No: something has to change first",
  after_retry_after: "Yes, once Retry-After has passed",
  backoff: "Yes, with exponential backoff",
} as const satisfies Record<Retryability, string>

// Errors of its type are not retried; of them this code alone says that the request is right and came too early.
const retry: Partial<Record<PartnerErrorCode, string>> = {
  IDEMPOTENCY_KEY_IN_USE: "Yes, once the first request has ended",
}

/** The guide to the errors: one section for each code, which is what the `doc_url` of an error points at. */
export const errorsPage = (docsUrl: string): Html => {
  const codes = Object.keys(partnerCatalog.codes) as ReadonlyArray<PartnerErrorCode>
  return html`<main id="content" class="content">
<h1>Errors</h1>
<p class="lead">Every error has a status, a <code>type</code> to branch on and a <code>code</code> that says what happened. Codes are only ever added,
and none changes its meaning.</p>

<h2 id="envelope">The envelope</h2>
<p>Whatever goes wrong is answered like this. <code>request_id</code> equals the header <code>X-Request-Id</code>: tell it to us when you ask about
an answer. <code>doc_url</code> leads to the section of its code on this page, and <code>details</code> is null where there is nothing to add.</p>
${code("Example of an error", example(docsUrl))}

<h2 id="types">Types</h2>
<p>Let retries and what your users see depend on the type, so that a code added later is treated rightly.</p>
${table(
  "Types of errors",
  ["type", "status", "retry"],
  Object.entries(partnerCatalog.types).map(([type, { retryable }]) => [
    html`<code>${type}</code>`,
    [
      ...new Set(
        codes
          .map((name) => partnerCatalog.codes[name])
          .filter((row) => row.type === type)
          .map((row) => row.status),
      ),
    ]
      .sort()
      .join(", "),
    RETRYABLE[retryable],
  ]),
)}

<h2 id="codes">Codes</h2>
<ul class="index">
${codes.map((name) => html`<li><a href="#${name}">${name}</a></li>\n`)}</ul>
${codes.map(codeSection)}

<h2 id="legacy">Codes of the drafts</h2>
<p>The survey and upload endpoints are drafts and not served. They answer in a simpler envelope,
<code>{ "error": { "code", "message", "errors" } }</code>, where <code>errors</code> is optional and each of its items has a <code>code</code>, a
<code>path</code> and a <code>message</code>.</p>
${(Object.keys(legacyCodes) as ReadonlyArray<LegacyErrorCode>).map(legacySection)}
</main>`
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
<dt>Answered by</dt><dd>${by.length === 0 ? "any path" : by.map(operationLink)}</dd>
</dl>`,
  )
}

const operationLink = ({ operationId, summary }: Operation, i: number): Part =>
  html`${i === 0 ? "" : ", "}<a href="reference#${operationId}">${summary.toLowerCase()}</a>`

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
