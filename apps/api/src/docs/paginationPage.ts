import { type Html, html } from "./html.ts"
import { code } from "./layout.ts"

const SECTIONS = {
  pages: "Read a list to its end",
  checkpoints: "Keep a checkpoint",
  mistakes: "What loses events",
  recipients: "Recipients as well",
} as const

const heading = (id: keyof typeof SECTIONS): Html => html`<h2 id="${id}">${SECTIONS[id]}</h2>`

/** The guide to lists, and to a reconciliation that loses nothing; `reconcile` is the source that it shows. */
export const paginationPage = (reconcile: string): Html => html`<main id="content" class="content">
<h1>Pagination and checkpoints</h1>
<p class="lead">A list comes in pages. Follow the cursor to the end, remember how far you are, and nothing is lost: not by a crash, nor by a webhook
that never arrived.</p>
<nav aria-label="On this page"><ul class="index">
${Object.entries(SECTIONS).map(([id, title]) => html`<li><a href="#${id}">${title}</a></li>\n`)}</ul></nav>

${heading("pages")}
<p>Ask for the first page with <code>limit</code>, 1 to 500 (100 unless told):</p>
${code("First page", FIRST_PAGE)}
<p>While <code>has_more</code> is true, ask again with <code>cursor</code> set to the page's <code>next_cursor</code>, and with all other parameters as
they were. On the last page <code>next_cursor</code> is null.</p>
${code("Next page", NEXT_PAGE)}
<ul>
<li>A cursor is a text without meaning to you. It belongs to one list, its filters and your organization.</li>
<li>Only <code>has_more</code> says whether a page was the last one. An empty list is a normal answer.</li>
<li>When <code>cursor</code> is refused with <a href="errors#INVALID_PARAMETER">INVALID_PARAMETER</a>, begin again without it, from your checkpoint.
Do not store cursors for long: store the checkpoint.</li>
<li>Nothing is skipped while you go through a list, whatever is added meanwhile. A recipient that changes while you read comes again further on.</li>
</ul>

${heading("checkpoints")}
<p>Every <code>outreach.email_*</code> event stands in <code>GET /v1/partners/consumer/events</code>, in the order of <code>emitted_at</code>, and no
event ever appears before one that you have read. So one time is enough to remember:</p>
<ol>
<li>Your checkpoint is the <code>emitted_at</code> of the last event that you stored, exactly as it was written. Begin with a time before your first
campaign: an early <code>since</code> brings the whole history that is kept.</li>
<li>Every 15 minutes, read from <code>since</code> at the checkpoint to the last page.</li>
<li><code>since</code> includes its moment, so the last events come again, and webhooks bring the same ones. Put <code>event_id</code> under a unique
constraint and drop what you have.</li>
<li>Store the events of a page and the new checkpoint in one transaction. After a crash you begin where the last transaction ended.</li>
</ol>
<p>In full:</p>
${code("reconcile.ts", reconcile)}
<p><code>@outreach/client</code> does all of this in <code>client.sync.events({ checkpoint })</code>. It also looks back a few seconds on each walk, asks
again when a request fails, and has stores for checkpoints in a file, SQLite and PostgreSQL.</p>

${heading("mistakes")}
<ul>
<li>A checkpoint that is the time of your own clock. Use the <code>emitted_at</code> that you read.</li>
<li>A checkpoint from <code>occurred_at</code>. An open may be reported after a later click.</li>
<li>A checkpoint that was rounded up to milliseconds or seconds. Times have six digits of a second: keep the text.</li>
<li>A checkpoint that is stored before the events. If the process ends in between, they are gone for you.</li>
<li>A <code>+</code> in <code>since</code> that is not written as <code>%2B</code>. Such a request is refused; use <code>Z</code>.</li>
<li>Webhooks alone. After seven attempts, or a 4xx of yours, an event is not sent again by itself. The feed still has it.</li>
</ul>

${heading("recipients")}
<p><code>GET /v1/partners/consumer/tokens</code> works in the same way, by <code>updated_at</code>, for what a
<code>outreach.recipients_published</code> should have brought: the feed does not carry that event. A record comes again whenever it has changed, so
write it over the one that you have, by <code>service_recipient_id</code>. <code>GET /v1/partners/consumer/campaigns/{id}/recipients</code> lists one
campaign from its beginning and takes no <code>since</code>.</p>
</main>`

const FIRST_PAGE = `curl -sSG "$OUTREACH_URL/v1/partners/consumer/events" \\
  -H "Authorization: Bearer $OUTREACH_KEY" \\
  --data-urlencode "since=2026-01-01T00:00:00Z" \\
  --data-urlencode "limit=2"`

const NEXT_PAGE = `export OUTREACH_CURSOR=…
${FIRST_PAGE} \\
  --data-urlencode "cursor=$OUTREACH_CURSOR"`
