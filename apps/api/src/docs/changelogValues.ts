import { RELEASE } from "@outreach/process/release"
import { changelog, type PackageChanges } from "./changelog.ts"
import { type Html, html, prose } from "./html.ts"
import { section } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"

// The order in which partners meet them: the contract, then the packages they install.
const FIRST = ["@outreach/contract", "@outreach/client", "@outreach/webhook-verifier"]

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

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

const packages = changelog.toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))

/** Values of the changelog page: the running release, and the changes of each package. */
export const changelogValues: GuideValues = {
  release: RELEASE,
  packageChanges: packages.map(packageSection),
}
