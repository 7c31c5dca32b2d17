/**
 * Finds published packages whose files changed since the last release without a changeset that names them.
 *
 * The last release of a package is the last commit that touched its changelog, which `changeset version` writes. Before the first release,
 * every file counts as changed. `BASE_REVISION` (a branch's starting point) limits the check to the changes and changesets since then.
 */
import { execFileSync } from "node:child_process"
import { globSync, readFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

function git(...args: readonly string[]): string[] {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean)
}

const EMPTY_TREE = git("hash-object", "-t", "tree", "--stdin")[0] ?? ""
const SERVICE = "@outreach/service"
const NAMED = /^["']?(@[\w./-]+)["']?\s*:\s*(?:major|minor|patch)\s*$/gm
const CHANGESET = /^---\n([\s\S]*?)^---\n\s*(\S?)/m

function changedSince(base: string, path: string): string[] {
  return [
    ...git("diff", "--name-only", base, "--", path),
    ...git("ls-files", "--others", "--exclude-standard", "--", path),
  ]
}

const packages = publishedPackages()
const violations: string[] = []

const namedBy = new Map<string, Set<string>>()
for (const path of globSync(".changeset/*.md", { cwd: root }).filter((path) => basename(path) !== "README.md")) {
  const [, head = "", summary = ""] = CHANGESET.exec(readFileSync(join(root, path), "utf8")) ?? []
  const names = new Set([...head.matchAll(NAMED)].map((match) => match[1] ?? ""))
  namedBy.set(path, names)
  if (summary === "") violations.push(`${path} has no summary`)
  for (const name of names) {
    if (name !== SERVICE && !packages.some((pkg) => pkg.name === name))
      violations.push(`${path} names ${name}, which is neither a published package nor ${SERVICE}`)
  }
}

for (const { name, folder } of packages) {
  const packagePath = relative(root, folder)
  const base =
    process.env["BASE_REVISION"] ??
    git("log", "-1", "--format=%H", "--", `${packagePath}/CHANGELOG.md`)[0] ??
    EMPTY_TREE
  const shipped = changedSince(base, packagePath).filter((path) =>
    /^[^/]+\/[^/]+\/(src\/|package\.json$|README\.md$)/.test(path),
  )
  const carried = changedSince(base, ".changeset").some((path) => namedBy.get(path)?.has(name))
  if (shipped.length > 0 && !carried)
    violations.push(`${name} changed (${shipped.slice(0, 3).join(", ")}…) without a changeset: pnpm changeset`)
}

report(violations, `${packages.length} packages, ${namedBy.size} changesets`)
