/**
 * Writes `repository` into the manifest of every published package, in the workflow that releases them: npm accepts a provenance only when it
 * names the same repository. `GITHUB_REPOSITORY` is the owner and the name; without it, nothing changes.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { publishedPackages, root } from "./publishedPackages.ts"

const { GITHUB_SERVER_URL: server = "https://github.com", GITHUB_REPOSITORY: repository } = process.env
for (const { folder } of repository === undefined ? [] : publishedPackages()) {
  const path = join(folder, "package.json")
  const manifest: object = JSON.parse(readFileSync(path, "utf8"))
  const named = { type: "git", url: `git+${server}/${repository}.git`, directory: relative(root, folder) }
  writeFileSync(path, `${JSON.stringify({ ...manifest, repository: named }, null, 2)}\n`)
}
