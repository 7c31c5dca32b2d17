import { existsSync, readFileSync } from "node:fs"

/** Returns the notes of a version from the changelog that `changeset version` wrote. Throws if there are none. */
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
