import { existsSync, readdirSync, readFileSync } from "node:fs"
import { type GuideValues, section } from "./renderGuide.ts"

const ROOT = new URL("../../../../", import.meta.url)

/** The packages that partners install, and their dependencies, in the order in which partners meet them. */
const PACKAGES = ["contract", "client", "webhook-verifier", "error-catalog", "retry-policy", "signature"]

/** Unreleased changes: their front matter, with the names of packages, and the description. */
const changesets = readdirSync(new URL(".changeset", ROOT))
  .filter((file) => file.endsWith(".md") && file !== "README.md")
  .map((file) => {
    const [, names = "", change = ""] = /^---\n(.*?)^---\n(.*)$/ms.exec(
      readFileSync(new URL(`.changeset/${file}`, ROOT), "utf8"),
    )!
    return { names, change: change.trim().replaceAll(/\s+/g, " ") }
  })

/** Renders the changes of a package, newest first: the unreleased ones, then its changelog without the names of commits. */
export const renderChanges = (unreleased: ReadonlyArray<string>, changelog: string): string => {
  const next =
    unreleased.length === 0 ? "" : `## Next version\n\n${unreleased.map((change) => `- ${change}\n`).join("")}\n`
  const released = changelog
    .replace(/^# .*\n+/, "")
    .replaceAll(/^- [0-9a-f]{7,}: /gm, "- ")
    .replaceAll(/^(?:- Updated dependencies.*\n)+/gm, "- Updated dependencies:\n")
  return (next + released).replaceAll(/^##/gm, "####") || "Nothing yet."
}

const changesOf = (name: string): string => {
  const unreleased = changesets.filter(({ names }) => names.includes(`"@outreach/${name}"`)).map(({ change }) => change)
  const changelog = new URL(`packages/${name}/CHANGELOG.md`, ROOT)
  return renderChanges(unreleased, existsSync(changelog) ? readFileSync(changelog, "utf8") : "")
}

/** Values of the changelog page: the changes of each package. */
export const changelogValues: GuideValues = {
  packageChanges: PACKAGES.map((name) => section(`@outreach/${name}`, `\`@outreach/${name}\``, changesOf(name))).join(
    "",
  ),
}
