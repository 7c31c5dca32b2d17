/** Returns what a changelog, as `changeset version` writes it, says of a version. Throws if it says nothing. */
export const notesOf = (changelog: string, version: string): string => {
  const section = changelog.split(/^## /m).find((it) => it.split("\n", 1)[0] === version)
  const notes = section?.slice(version.length).trim()
  if (notes === undefined || notes === "")
    throw new Error(`the changelog says nothing of ${version}: run \`changeset version\` before the tag`)
  return notes
}
