/**
 * Compares each published package's built declarations with its committed `api.d.ts`; `--write` updates the file.
 *
 * With several subpaths, `api.d.ts` has the declarations of each under a line `// <package>/<subpath>`, then their shared chunks.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { type PublishedPackage, publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

function builtSurface({ folder, name, entries }: PublishedPackage): string {
  const entryFiles = entries.map(({ types }) => join(types))
  const chunks = globSync("dist/**/*.d.ts", { cwd: folder }).filter((path) => !entryFiles.includes(path))
  const parts = [
    ...entries.map(({ specifier, types }) => ({ title: specifier, path: types })),
    ...chunks.sort().map((path) => ({ title: `${name}/${path}`, path })),
  ].map(({ title, path }) => ({ title, text: readFileSync(join(folder, path), "utf8") }))
  return parts.length === 1
    ? parts.map(({ text }) => text).join("")
    : parts.map(({ title, text }) => `// ${title}\n${text}`).join("\n")
}

const write = process.argv.includes("--write")
const violations: string[] = []
for (const pkg of publishedPackages()) {
  const path = join(pkg.folder, "api.d.ts")
  if (!pkg.entries.every(({ types }) => existsSync(join(pkg.folder, types)))) {
    violations.push(`${relative(root, pkg.folder)} is not built: pnpm build`)
    continue
  }
  const built = builtSurface(pkg)
  if (write) writeFileSync(path, built)
  else if (!existsSync(path) || readFileSync(path, "utf8") !== built) {
    violations.push(
      `${relative(root, path)} differs from the build: see the change with tools/public-surface-is-committed.ts --write and git diff`,
    )
  }
}
report(violations, `${publishedPackages().length} packages`)
