import { existsSync, readdirSync, readFileSync } from "node:fs"
import { RELEASE } from "@outreach/process/release"
import { type GuideValues, section } from "./renderGuide.ts"

const ROOT = new URL("../../../../", import.meta.url)
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8")

/** Changesets: their front matter, with the names of packages, and the description. */
const changesets = readdirSync(new URL(".changeset", ROOT))
  .filter((file) => file.endsWith(".md") && file !== "README.md")
  .map((file) => {
    const [, names = "", change = ""] = /^---\n(.*?)^---\n(.*)$/ms.exec(read(`.changeset/${file}`))!
    return { names, change: change.trim().replaceAll(/\s+/g, " ") }
  })

/** Changes of a published package: the unreleased ones, then its changelog, with versions below the section's heading. */
const changesOf = (folder: string, name: string): string => {
  const next = changesets.filter(({ names }) => names.includes(`"${name}"`)).map(({ change }) => `- ${change}\n`)
  const file = `packages/${folder}/CHANGELOG.md`
  const released = existsSync(new URL(file, ROOT)) ? read(file).replace(/^# .*\n/, "") : ""
  const all = (next.length === 0 ? "" : `#### Next version\n\n${next.join("")}`) + released.replaceAll(/^##/gm, "####")
  return all.replaceAll(/^- [0-9a-f]{7,}: /gm, "- ") || "Nothing yet."
}

// The order in which partners meet them: the contract, then the packages they install.
const FIRST = ["@outreach/contract", "@outreach/client", "@outreach/webhook-verifier"]

const rank = (name: string): number => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length)

const packages = readdirSync(new URL("packages", ROOT))
  .filter((folder) => existsSync(new URL(`packages/${folder}/package.json`, ROOT)))
  .map((folder) => ({ folder, ...JSON.parse(read(`packages/${folder}/package.json`)) }))
  .filter((manifest) => !manifest.private)
  .toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))

/** Values of the changelog page: the running release, and the changes of each published package. */
export const changelogValues: GuideValues = {
  release: RELEASE,
  packageChanges: packages.map(({ folder, name }) => section(name, `\`${name}\``, changesOf(folder, name))).join(""),
}
