import { RELEASE } from "@outreach/process/release"
import type { PackageChanges } from "./changelog.ts"
import { type Html, html, prose } from "./html.ts"
import { section } from "./layout.ts"

// What a partner meets first: the wire, then what is installed to call and to be called.
const FIRST = ["@outreach/contract", "@outreach/client", "@outreach/webhook-verifier"]

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

/** The page of what changed, and of what may change. */
export const changelogPage = (changelog: ReadonlyArray<PackageChanges>): Html => {
  const packages = changelog.toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))
  return html`<main id="content" class="content">
<h1>Changelog</h1>
<p class="lead">This deployment runs version ${RELEASE} of the service, which <code>GET /v1/health</code> also says.</p>

<h2 id="versions">What may change</h2>
<ul>
<li>The API's version is in its path, <code>/v1</code>.</li>
<li>New fields, event types and error codes may be added. Let pass what you do not know. Codes that exist keep their meaning.</li>
<li>An event carries <code>event_version</code>, which grows when its type changes in a way that is not compatible.</li>
<li>The survey and upload endpoints are drafts. They may change without notice.</li>
</ul>

<h2 id="packages">By package</h2>
<p><code>@outreach/contract</code> describes the API itself: its requests, responses and events.</p>
<ul class="index">
${packages.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>\n`)}</ul>
${packages.map(packageSection)}
</main>`
}

const packageSection = ({ name, releases }: PackageChanges): Html =>
  section(
    name,
    html`<code>${name}</code>`,
    html`${releases.length === 0 ? html`<p>Nothing yet.</p>\n` : ""}${releases.map(
      ({ version, changes }) => html`<h4>${version ?? "Next version"}</h4>
<ul>
${changes.length === 0 ? html`<li>Follows the packages that it depends on.</li>\n` : ""}${changes.map((change) => html`<li>${prose(change)}</li>\n`)}</ul>
`,
    )}`,
  )
