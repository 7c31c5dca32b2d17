/**
 * Compares each published package's built declarations with its committed `api.d.ts`; `--write` updates the file.
 *
 * With several subpaths, `api.d.ts` has the declarations of each under a line `// <package>/<subpath>`, then their shared chunks. Copied types of the
 * contract are named instead: `types.d.ts` of the contract declares them.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { type PublishedPackage, publishedLibraries, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** The declarations of the contract's types by name, as the build copies them. */
const CONTRACT = readFileSync(join(root, "packages/contract/types.d.ts"), "utf8")
  .split("\n\n")
  .flatMap((block) => {
    const [, name] = /^export \w+ (\w+)/m.exec(block) ?? []
    return name === undefined ? [] : [{ name, text: `${block.replace(/^export /m, "").trimEnd()}\n` }]
  })

/** Replaces copied types of the contract by an import. */
function importContract(text: string): string {
  const copied = CONTRACT.filter((declaration) => text.includes(declaration.text))
  if (copied.length === 0) return text
  const own = copied.reduce((rest, declaration) => rest.replace(`${declaration.text}\n`, ""), text)
  return `import type { ${copied.map(({ name }) => name).join(", ")} } from '@outreach/contract/types';\n\n${own}`
}

/** Removes the hashes of the contents from the names of chunks. */
const withoutHashes = (text: string): string => text.replaceAll(/-[\w-]{8}(?=\.(?:d\.ts|js)\b)/g, "")

function builtSurface({ folder, name, entries }: PublishedPackage): string {
  const entryFiles = entries.map(({ types }) => join(types))
  const chunks = globSync("dist/**/*.d.ts", { cwd: folder }).filter((path) => !entryFiles.includes(path))
  const parts = [
    ...entries.map(({ specifier, types }) => ({ title: specifier, path: types })),
    ...chunks.sort().map((path) => ({ title: `${name}/${path}`, path })),
  ].map(({ title, path }) => ({ title, text: importContract(readFileSync(join(folder, path), "utf8")) }))
  return withoutHashes(
    parts.length === 1
      ? parts.map(({ text }) => text).join("")
      : parts.map(({ title, text }) => `// ${title}\n${text}`).join("\n"),
  )
}

const write = process.argv.includes("--write")
const violations: string[] = []
for (const pkg of publishedLibraries()) {
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
report(violations, `${publishedLibraries().length} packages`)
