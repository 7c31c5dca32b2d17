import { existsSync, readFileSync } from "node:fs"

/** Returns what a changelog, as `changeset version` writes it, says of a version. Throws if it says nothing. */
export const notesOf = (file: string, version: string): string => {
  const sections = existsSync(file) ? readFileSync(file, "utf8").split(/^## /m) : []
  const notes = sections
    .find((section) => section.split("\n", 1)[0] === version)
    ?.slice(version.length)
    .trim()
  if (notes === undefined || notes === "")
    throw new Error(
      `${file} says nothing of ${version}: a changeset names @outreach/service, and \`changeset version\` comes before the tag`,
    )
  return notes
}
