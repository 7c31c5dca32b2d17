import { existsSync, readdirSync, readFileSync } from "node:fs"
import { type Html, html, prose } from "@outreach/process/html"
import { RELEASE } from "@outreach/process/release"
import { section } from "./layout.ts"
import type { GuideValues } from "./renderGuide.ts"

/** Changes of a package: by version, newest first, and the unreleased ones. */
interface PackageChanges {
  readonly name: string
  readonly releases: ReadonlyArray<{ readonly version: string | null; readonly changes: ReadonlyArray<string> }>
}

const ROOT = new URL("../../../../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8")

/** Parses a changelog written by `changeset version`. */
export const parseChangelog = (text: string): PackageChanges["releases"] =>
  text
    .split(/^## /m)
    .slice(1)
    .map((release) => ({
      version: /^\S+/.exec(release)![0],
      changes: [...release.matchAll(/^- (?:[0-9a-f]{7,}: )?(.+(?:\n {2,}.+)*)/gm)]
        .map(([, change]) => change!.replaceAll(/\s+/g, " "))
        .filter((change) => !change.startsWith("Updated dependencies")),
    }))

/** Parses a changeset: packages and description. */
export const parseChangeset = (text: string): { readonly names: ReadonlyArray<string>; readonly change: string } => {
  const [, head, change] = /^---\n(.*?)^---\n(.*)$/ms.exec(text)!
  return {
    names: [...head!.matchAll(/^["']?(@[\w./-]+)/gm)].map(([, name]) => name!),
    change: change!.trim().replaceAll(/\s+/g, " "),
  }
}

const changesets = readdirSync(new URL(".changeset", ROOT))
  .filter((file) => file.endsWith(".md") && file !== "README.md")
  .map((file) => parseChangeset(read(`.changeset/${file}`)))

/** Changes of each published package, included in the bundle when it is built. */
export const changelog: ReadonlyArray<PackageChanges> = readdirSync(new URL("packages", ROOT))
  .filter((folder) => existsSync(new URL(`packages/${folder}/package.json`, ROOT)))
  .flatMap((folder) => {
    const { name, private: isPrivate } = JSON.parse(read(`packages/${folder}/package.json`))
    if (isPrivate) return []
    const next = changesets.filter(({ names }) => names.includes(name)).map(({ change }) => change)
    const file = `packages/${folder}/CHANGELOG.md`
    const released = existsSync(new URL(file, ROOT)) ? parseChangelog(read(file)) : []
    return [{ name, releases: [...(next.length > 0 ? [{ version: null, changes: next }] : []), ...released] }]
  })

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
export const changelogValues: GuideValues = { release: RELEASE, packageChanges: packages.map(packageSection) }
