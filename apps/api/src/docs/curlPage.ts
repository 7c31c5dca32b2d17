import { type Operation, type OperationId, operations } from "@outreach/contract"
import { curlExamples } from "./curlExamples.ts"
import { type Html, html, prose } from "./html.ts"
import { code, keysOf, section, table } from "./layout.ts"

/** The variables of the examples, with what stands for one's own values, and where those come from. */
const VARIABLES = {
  OUTREACH_KEY: ["orp_test_…", html`your key`],
  OUTREACH_TOKEN: ["aB3xY9", html`<code>token</code> of a recipient`],
  OUTREACH_CAMPAIGN: ["cmp_…", html`<code>service_campaign_id</code> of a recipient`],
  OUTREACH_ENDPOINT: ["whe_…", html`your webhook endpoint`],
  OUTREACH_SECRET: ["whsec_…", html`its signing secret`],
} as const

/** The page with a command for each operation. */
export const curlPage = (publicBaseUrl: string): Html => html`<main id="content" class="content">
<h1>Requests with curl</h1>
<p class="lead">A command for each endpoint. Copy it into a shell with <code>curl</code>; the one that sends an event needs <code>openssl</code> too.</p>
<nav aria-label="On this page"><ul class="index">
<li><a href="#variables">Set these once</a></li>
${keysOf(operations).map((id) => html`<li><a href="#${id}">${operations[id].summary}</a></li>\n`)}<li><a href="#again">Ask again</a></li>
<li><a href="#failures">When it fails</a></li>
</ul></nav>

<h2 id="variables">Set these once</h2>
<p>The address is this deployment's. You get the key, the endpoint and its secret <a href="../docs#key">from us</a>, or from
<a href="sandbox#variables">your own sandbox</a>. <a href="#listTokens">The list of recipients</a> shows tokens and campaigns.</p>
${code("Variables", variables(publicBaseUrl))}
${table(
  "Values of the variables",
  ["variable", "value"],
  keysOf(VARIABLES).map((name) => [html`<code>${name}</code>`, VARIABLES[name][1]]),
)}

<h2 id="endpoints">Each endpoint</h2>
${keysOf(operations).map(operation)}

<h2 id="again">Ask again</h2>
<p>With <code>Idempotency-Key</code> a request that you repeat is answered as the first time, for 24 hours, with
<code>Idempotent-Replayed: true</code>. Choose a new key for each new request.</p>
${code("Idempotency", IDEMPOTENCY)}
<p>A recipient record has an <code>ETag</code>. curl keeps it in a file and sends it back as <code>If-None-Match</code>: 304 and no body say that nothing has changed.</p>
${code("Conditional request", CONDITIONAL)}

<h2 id="failures">When it fails</h2>
<p>Every error says in <code>error.code</code> what happened, and in <code>error.doc_url</code> where <a href="errors">its section</a> is. With
<code>-i</code> curl shows the headers as well: <code>X-Request-Id</code>, which we ask for, and how many requests are left in this minute. This one fails for want of <code>since</code>:</p>
${code("Headers", `curl -sSi "$OUTREACH_URL/v1/partners/consumer/tokens" -H "Authorization: Bearer $OUTREACH_KEY"`)}
<p>A <code>+</code> in a URL means a space. <code>--data-urlencode</code> writes the times and cursors that you pass as they must be.</p>
</main>`

const IDEMPOTENCY = `curl -sSiG "$OUTREACH_URL/v1/partners/consumer/events" \\
  -H "Authorization: Bearer $OUTREACH_KEY" \\
  -H "Idempotency-Key: nightly-$(date -u +%F)" \\
  --data-urlencode "since=2026-01-01T00:00:00Z"`

const CONDITIONAL = `curl -sS "$OUTREACH_URL/v1/partners/consumer/tokens/$OUTREACH_TOKEN" \\
  -H "Authorization: Bearer $OUTREACH_KEY" \\
  --etag-save etag.txt
curl -sSi "$OUTREACH_URL/v1/partners/consumer/tokens/$OUTREACH_TOKEN" \\
  -H "Authorization: Bearer $OUTREACH_KEY" \\
  --etag-compare etag.txt`

const variables = (publicBaseUrl: string): string =>
  [
    `export OUTREACH_URL=${publicBaseUrl}`,
    ...keysOf(VARIABLES).map((name) => `export ${name}=${VARIABLES[name][0]}`),
  ].join("\n")

const operation = (id: OperationId): Html => {
  const { summary, description, auth }: Operation = operations[id]
  return section(
    id,
    summary,
    html`<p>${prose(description)}${auth.kind === "scope" ? html` The key needs the scope <code>${auth.scope}</code>.` : ""}${auth.kind === "signature" ? " You send the event, signed with your secret." : ""}
<a href="reference#${id}" aria-label="${summary}: the reference">Reference</a></p>
${code(summary, curlExamples[id])}`,
  )
}
