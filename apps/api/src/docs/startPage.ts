import { operations, SCOPES } from "@outreach/contract"
import { curlExamples } from "./curlExamples.ts"
import { type Html, html } from "./html.ts"
import { code, keysOf, PAGES, table } from "./layout.ts"

/** The first page: how to get a key, the first request, and what the other pages are about. */
export const startPage = (publicBaseUrl: string): Html => html`<main id="content" class="content">
<h1>Outreach Partner API</h1>
<p class="lead">We send e-mails to clinicians for your platform. Every outcome reaches you by a signed webhook, and stands in a feed that you can
read again.</p>

<h2 id="key">Get a key</h2>
<p>Ask the person at our side who looks after your organization. You get:</p>
<ul>
<li>an API key, <code>orp_test_…</code> for trying out or <code>orp_live_…</code> for production. We show it once and keep only its hash, so store it
where you store passwords;</li>
<li>a signing secret, <code>whsec_…</code>, which both of us sign webhooks with;</li>
<li>the id of your webhook endpoint, <code>whe_…</code>. For it we need the URL that is to receive our events.</li>
</ul>
<p>A key has one or more of these scopes. Ask for those that you need:</p>
${table(
  "Scopes",
  ["scope", "what it opens"],
  SCOPES.map((scope) => [
    html`<code>${scope}</code>`,
    keysOf(operations)
      .filter((id) => "scope" in operations[id].auth && operations[id].auth.scope === scope)
      .map(
        (id, i) =>
          html`${i === 0 ? "" : ", "}<a href="docs/reference#${id}">${operations[id].summary.toLowerCase()}</a>`,
      ),
  ]),
)}
<p>A test key works on test deployments alone, a live key in production alone. If a key may have leaked, tell us: we end it at once. To change a key
without a gap, ask for its successor: the old one lives on for 24 hours, unless we agree on another time.</p>
<p>You can also begin without a key: <a href="docs/sandbox">the sandbox</a> runs everything on your machine, with a key of its own.</p>

<h2 id="first">Make the first request</h2>
<p>See whether this deployment answers. This needs no key:</p>
${code("First request", `export OUTREACH_URL=${publicBaseUrl}\n${curlExamples.getHealth}`)}
<p>Then read with your key:</p>
${code("First request with a key", `export OUTREACH_KEY=orp_test_…\n${curlExamples.listTokens}`)}
<p>The answer is a list of the recipients of your organization. It may still be empty. 401 says that the key is not known here, 403 that it lacks the
scope; <a href="docs/errors">each error</a> says what to do.</p>

<h2 id="pages">Read on</h2>
<dl class="pages">
${keysOf(PAGES)
  .filter((page) => page !== "start")
  .map(
    (page) => html`<dt><a href="docs/${page}">${PAGES[page].title}</a></dt><dd>${PAGES[page].description}</dd>\n`,
  )}<dt><a href="docs/../v1/openapi.json">OpenAPI document</a></dt><dd>The reference for machines: to generate a client, or to load into your tools.</dd>
</dl>

<h2 id="packages">Packages</h2>
<p>For JavaScript and TypeScript:</p>
<ul>
<li><code>@outreach/client</code> calls every endpoint, with pages, retries and a reconciliation that resumes where it stopped.</li>
<li><code>@outreach/webhook-verifier</code> <a href="docs/webhooks#verify">verifies webhooks</a> in any framework, and types their events.</li>
</ul>
<p>Install them with <code>npm install</code>. Before their first release on npm, <code>npm run package:partners</code> in a clone of our repository packs
them, and <code>npm install</code> takes the files of <code>dist/partners</code>.</p>
<p>Python, PHP, Ruby, Go, Java and C# need no package: the page on webhooks has <a href="docs/webhooks#verify">the check of a signature</a> for each.</p>
</main>`
