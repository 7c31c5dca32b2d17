import { SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import { eventCatalogue } from "./eventCatalogue.ts"
import { type Html, html } from "./html.ts"
import { code, table } from "./layout.ts"
import { limits } from "./limits.ts"
import { verifierErrors } from "./verifierErrors.ts"

const SECTIONS = {
  delivery: "How events are delivered",
  headers: "Headers",
  verify: "Verify the signature",
  "standard-webhooks": "Standard Webhooks",
  rotation: "When the secret is rotated",
  listen: "Receive on your own machine",
  "verifier-errors": "When the verifier refuses",
  reconcile: "Reconcile by pulling",
  envelope: "The envelope",
  "to-you": "Events that we send",
  "to-us": "Events that you send",
  limits: "Limits",
} as const

const heading = (id: keyof typeof SECTIONS): Html => html`<h2 id="${id}">${SECTIONS[id]}</h2>`

/** The guide to webhooks, for both directions; `webhookServer` is the source of a receiver, which it shows. */
export const webhooksPage = (options: {
  readonly unauthenticatedLimit: number
  readonly webhookServer: string
  readonly verifyInYourLanguage: Html
}): Html => {
  const { unauthenticatedLimit, webhookServer, verifyInYourLanguage } = options
  return html`<main id="content" class="content">
<h1>Webhooks</h1>
<p class="lead">We post an event to your endpoint when something happens to a recipient, and you post yours to ours. Both are signed alike. What a
webhook missed, the event feed still has.</p>
<nav aria-label="On this page"><ul class="index">
${Object.entries(SECTIONS).map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul></nav>

${heading("delivery")}
<p>Each event is posted as JSON until you acknowledge it with a 2xx status; the body of your answer is ignored. Acknowledge with 200 as soon as the
event is stored, and work on it afterwards.</p>
<ul>
<li><strong>At least once.</strong> The same event can come several times, and again through the feed. <code>event_id</code> is the same each time:
keep it under a unique constraint and drop what you have.</li>
<li><strong>In no order.</strong> A retry can arrive after a later event. <code>occurred_at</code> says when the thing happened.</li>
<li><strong>4xx is final.</strong> It says that you will never take this event, and it is not sent again by itself. Answer 5xx for trouble that
passes.</li>
<li><strong>5xx and network failures are tried again</strong>, and so is any other answer that is neither 2xx nor 4xx. Redirects are not followed.
This is the schedule:</li>
</ul>
${deliverySchedule()}
<p>What failed for good is kept and can be sent again by hand: ask us.</p>

${heading("headers")}
${table(
  "Headers of a webhook",
  ["header", "meaning"],
  [
    [
      html`<code>X-Signature</code>`,
      html`When this attempt was signed, and the signatures: <code>t=1772426227,v1=5257a8…</code>`,
    ],
    [html`<code>X-Delivery-Id</code>`, "The delivery, which all attempts share. Tell it to us when you ask about one."],
    [html`<code>X-Delivery-Attempt</code>`, "1 for the first attempt."],
    [html`<code>Content-Type</code>`, html`<code>application/json</code>`],
  ],
)}
<p>Only the body is signed, and it holds <code>event_id</code>; take the two <code>X-Delivery</code> headers for hints.</p>

${heading("verify")}
<p>The header is <code>t=&lt;unix seconds&gt;,v1=&lt;hex&gt;</code>, with as many <code>v1</code> as there are active secrets. Each is the lowercase
hex of HMAC-SHA256 over <code>&lt;t&gt;.&lt;raw body&gt;</code>. The key is the whole secret as text, <code>whsec_</code> included.</p>
<ol>
<li>Take <code>t</code> and every <code>v1</code> out of the header.</li>
<li>Refuse the request when <code>t</code> is more than 5 minutes from your own clock, before or after: it may be a replay.</li>
<li>Compute the signature over <code>t</code>, a dot and the body with each secret that you hold. Take the raw bytes, before any JSON parser.</li>
<li>Compare in constant time. One match is enough. Otherwise answer 401.</li>
</ol>
<p>In full, with nothing but the language's own library:</p>
${verifyInYourLanguage}
<p><a href="signature-vectors.json">Signatures to test with</a>, in JSON: each case has the header, the body, the secrets and the clock, and says whether
a verifier accepts it, or the code with which it refuses. All of the above agree with all of them.</p>
<p>Or leave it to <code>@outreach/webhook-verifier</code>, less than 3 KB without dependencies: it reads the raw bytes in Express, Fastify, Hono, plain Node, AWS Lambda
and whatever speaks Fetch, types the events, and <code>npx @outreach/webhook-verifier verify</code> says why a signature fails. A whole receiver:</p>
${code("webhookServer.ts", webhookServer)}
<p>The form is the one that Stripe uses, so its libraries verify it as well:
<code>Stripe.webhooks.constructEvent(rawBody, header, secret)</code>.</p>

${heading("standard-webhooks")}
<p>Ask us, and your endpoint's webhooks carry the headers of the Standard Webhooks specification beside <code>X-Signature</code>, so that its libraries in
many languages, those of svix among them, verify with the secret that you have: <code>new Webhook(secret).verify(rawBody, request.headers)</code>.</p>
${table(
  "Headers of Standard Webhooks",
  ["header", "meaning"],
  [
    [html`<code>webhook-id</code>`, html`The <code>event_id</code>`],
    [html`<code>webhook-timestamp</code>`, html`The <code>t</code> of <code>X-Signature</code>`],
    [
      html`<code>webhook-signature</code>`,
      html`<code>v1,</code> and the base64 of HMAC-SHA256 over <code>&lt;id&gt;.&lt;timestamp&gt;.&lt;raw body&gt;</code>, for each active secret,
separated by spaces`,
    ],
  ],
)}
<p>The key is what follows <code>whsec_</code>, decoded from base64. The libraries for JavaScript take your secret as it is; in Go, C# and other languages
whose base64 insists on padding, append <code>=</code> to it, for these libraries alone. Sign what you send to us with <code>X-Signature</code> and the secret as we gave it.</p>

${heading("rotation")}
<p>After a rotation the old secret stays active for a while, 24 hours unless agreed otherwise. Until it ends our webhooks carry a <code>v1</code>
for each of the two, and we accept yours under either. So there is no hurry and no gap:</p>
<ol>
<li>We give you the new secret.</li>
<li>Add it to the secrets that you verify with, and sign with it.</li>
<li>Once the old one has ended, remove it.</li>
</ol>

${heading("listen")}
<p>No service reaches a receiver on your machine. <code>listen</code> follows the feed instead, and forwards each event as we would send it, with its
signature and headers:</p>
${code("listen", LISTEN)}
<p>It prints the secret that your receiver needs, and a line for each event with the status and the time of your answer. <code>r</code> sends the
last event again, and <code>--type</code> chooses events. Without <code>--base-url</code> it follows <a href="sandbox">the sandbox</a>; give the address of
a test deployment with a key of it. A production key is refused.</p>

${heading("verifier-errors")}
<p>Each refusal of <code>@outreach/webhook-verifier</code> has a <code>code</code>. An adapter answers with it, and tells your
<code>onError</code>. 401 means that the request is not proven to be ours; after 500 the event comes again. The answer
<code>handler_failed</code> says that your own handler threw: its error is in <code>onError</code>.</p>
${verifierErrors}

${heading("reconcile")}
<p>Every <code>outreach.email_*</code> event also stands in the feed, <code>GET /v1/partners/consumer/events</code>. Read it every 15 minutes, so that
what no webhook brought reaches you too: <a href="pagination#checkpoints">how to keep a checkpoint</a>. Events come again there: drop them by
<code>event_id</code>, as with webhooks.</p>

${heading("envelope")}
<p>Every event has the same envelope, and <code>data</code> depends on its type. New fields and new types may be added: let pass what you do not know.</p>
${table(
  "Fields of the envelope",
  ["field", "meaning"],
  [
    [html`<code>object</code>`, html`always <code>event</code>`],
    [html`<code>livemode</code>`, "true on the production deployment alone"],
    [html`<code>event_id</code>`, html`<code>evt_</code> and hex digits; the key to deduplicate by`],
    [html`<code>event_type</code>`, "one of those below"],
    [html`<code>event_version</code>`, "1 or more; grows when a type changes in a way that is not compatible"],
    [html`<code>occurred_at</code>`, "when it happened"],
    [html`<code>emitted_at</code>`, "when the event was made; orders the feed"],
    [html`<code>source</code>`, html`<code>service</code> for ours, <code>consumer</code> for yours`],
    [html`<code>data</code>`, "what the type says"],
    [html`<code>metadata</code>`, "optional, passed through"],
  ],
)}

${heading("to-you")}
${eventCatalogue("to_consumer")}

${heading("to-us")}
<p>Post the envelope to <code>/v1/partners/consumer/webhooks/{endpoint_id}</code>, signed with the endpoint's secret as shown above; no API key is
needed. 200 and <code>{"received":true}</code> say that it is stored. A repeated <code>event_id</code> is acknowledged and counts once. A 4xx is
final; try again after a 5xx, with the same <code>event_id</code> and a fresh signature.</p>
${eventCatalogue("to_service")}

${heading("limits")}
${limits(unauthenticatedLimit)}
</main>`
}

const LISTEN = `export OUTREACH_KEY=orp_test_…
npx @outreach/webhook-verifier listen --forward http://localhost:3000/webhooks`

/** The attempts of a delivery and the waits between them. */
const deliverySchedule = (): Html =>
  table(
    "Attempts of a delivery",
    ["attempt", "after the one before", "since the first"],
    [
      ["1", "at once", "0"],
      ...SPECIFIED_SCHEDULE.map((delay, i) => [
        `${i + 2}`,
        duration(delay),
        duration(SPECIFIED_SCHEDULE.slice(0, i + 1).reduce((sum, one) => sum + one)),
      ]),
    ],
  )

const UNITS = [
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const

const duration = (seconds: number): string => {
  const [unit, length] = UNITS.find(([, size]) => seconds >= size)!
  const count = Math.round((seconds / length) * 10) / 10
  return `${count * length === seconds ? "" : "about "}${count} ${unit}${count === 1 ? "" : "s"}`
}
