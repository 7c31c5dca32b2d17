import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { root } from "./publishedPackages.ts"

/** Lists the tracked and new files of the repository that match one of git's patterns; all without a pattern. */
export function listFiles(...patterns: readonly string[]): readonly string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", ...patterns]
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })
  return listed.split("\0").filter((file) => file !== "" && existsSync(join(root, file)))
}
