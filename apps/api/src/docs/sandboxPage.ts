import { type Html, html } from "./html.ts"
import { code, table } from "./layout.ts"

// What the sandbox writes to the file, by the variable that takes it.
const FIELDS = {
  OUTREACH_URL: "base_url",
  OUTREACH_KEY: "api_key",
  OUTREACH_CAMPAIGN: "campaign_id",
  OUTREACH_ENDPOINT: "endpoint_id",
  OUTREACH_SECRET: "signing_secret",
} as const

const read = (field: string): string => `$(node -p "require('./.sandbox/sandbox.json').${field}")`

const VARIABLES = Object.entries(FIELDS)
  .map(([variable, field]) => `export ${variable}=${read(field)}`)
  .join("\n")

const ENDPOINT = `npm run ops -- endpoints create \\
  --url http://127.0.0.1:3000/webhooks \\
  --organization "${read("organization_id")}"`

const LISTEN = `npm run --silent webhook -- listen \\
  --forward http://127.0.0.1:3000/webhooks --secret "$OUTREACH_SECRET"`

/** The guide to the sandbox: how to run it, what it holds, and how to use it for one's own receiver. */
export const sandboxPage: Html = html`<main id="content" class="content">
<h1>The sandbox</h1>
<p class="lead">The whole service on your own machine: the real API, simulated clinicians, and e-mails that go nowhere. It needs no key of ours.</p>

<h2 id="start">Start it</h2>
<p>The machine needs npm with Node 20 or later, and a copy of the service's repository, which we give you. In its folder:</p>
${code("Start", "npm start")}
<p>It installs what it needs, PostgreSQL too, and sends a campaign to 1,000 recipients. Ctrl-C stops everything; the next start goes on where it was.
<code>npm start -- --fresh</code> begins anew, <code>--port</code> chooses another port, and <code>--help</code> names all options.</p>

<h2 id="parts">What runs</h2>
${table(
  "Parts of the sandbox",
  ["part", "what it is"],
  [
    ["API", html`the service itself, on <code>http://127.0.0.1:8080</code>, with these pages under <code>/docs</code>`],
    ["Mail catcher", "a page with the e-mails that were sent; none leaves the machine"],
    [
      "Clinicians",
      "open, click, bounce, unsubscribe, sign up and qualify by themselves, so that every type of event comes",
    ],
    ["Sample partner", "a page with the webhooks that it received, verified, and compared with the feed"],
  ],
)}
<p>The terminal shows the address of each.</p>

<h2 id="variables">Use its key</h2>
<p>Addresses, key and secret stand in <code>.sandbox/sandbox.json</code>. In the same folder, this sets the variables of
<a href="curl">the commands for each endpoint</a>:</p>
${code("Variables of the sandbox", VARIABLES)}

<h2 id="receiver">Send its webhooks to your receiver</h2>
<p>In the folder of the repository, let <a href="webhooks#listen"><code>listen</code></a> forward them, and show how your receiver answers each:</p>
${code("listen", LISTEN)}
<p>Or let the service itself send them. Create an endpoint with the address of your receiver:</p>
${code("Endpoint", ENDPOINT)}
<p>From now on your receiver gets every event, signed with <code>$OUTREACH_SECRET</code>. Click a link in an e-mail on the mail catcher's page, and
<code>outreach.email_clicked</code> arrives within a second. To see how <a href="webhooks#delivery">attempts are repeated</a>, answer 500, or stop your
receiver for a while.</p>

<h2 id="differences">What differs from production</h2>
<ul>
<li><code>livemode</code> is false everywhere, and keys begin with <code>orp_test_</code>.</li>
<li>Endpoints may have private addresses and begin with <code>http://</code>. In production they are public and begin with <code>https://</code>.</li>
<li>Limits, signatures, retries and errors are the same: it is the same program.</li>
</ul>
</main>`
