/** Finds folders of the domain that import one another in a cycle: none of them can be read or changed by itself. */
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import ts from "typescript"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const source = join(root, "packages/domain/src")
const folderOf = (path: string): string => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "")

/** For each folder, the imported folders, with one import as evidence. */
const imports = new Map<string, Map<string, string>>()
const files = globSync("**/*.ts", { cwd: source })
for (const file of files) {
  for (const { fileName } of ts.preProcessFile(readFileSync(join(source, file), "utf8")).importedFiles) {
    if (!fileName.startsWith(".")) continue
    const imported = normalize(join(dirname(file), fileName))
    const [from, to] = [folderOf(file), folderOf(imported)]
    if (from === to) continue
    if (!imports.has(from)) imports.set(from, new Map())
    imports.get(from)!.set(to, `${file} imports ${imported}`)
  }
}
if (files.length === 0) throw new Error(`${source} has no sources.`)

const violations: string[] = []
const finished = new Set<string>()
/** Follows the imports of a folder; `path` is the way to it. */
function visit(folder: string, path: readonly string[]): void {
  if (path.includes(folder)) {
    const cycle = [...path.slice(path.indexOf(folder)), folder]
    violations.push(
      `${cycle.join(" → ")}: ${cycle
        .slice(1)
        .map((to, i) => imports.get(cycle[i]!)!.get(to))
        .join(", ")}`,
    )
    return
  }
  if (finished.has(folder)) return
  for (const to of imports.get(folder)?.keys() ?? []) visit(to, [...path, folder])
  finished.add(folder)
}
for (const folder of imports.keys()) visit(folder, [])

report(violations, `${files.length} files in ${imports.size} folders`)
