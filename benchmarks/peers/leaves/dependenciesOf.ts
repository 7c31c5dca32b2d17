import { readFileSync, realpathSync } from "node:fs"
import { findPackageJSON } from "node:module"

/** Returns the installed version of a package. */
export function versionOf(packageName: string): string {
  const { version } = JSON.parse(readFileSync(findPackageJSON(packageName, import.meta.url)!, "utf8")) as {
    version: string
  }
  return version
}

/** Counts the packages that npm installs with a package, at any depth. */
export function dependenciesOf(packageName: string): number {
  const found = new Set<string>()
  const visit = (name: string, from: string) => {
    const link = findPackageJSON(name, from)
    if (link === undefined) throw new Error(`${name} is not installed: add it to benchmarks/peers/package.json.`)
    // pnpm installs the dependencies of a package next to the target of its link.
    const path = realpathSync(link)
    if (found.has(path)) return
    found.add(path)
    const { dependencies = {} } = JSON.parse(readFileSync(path, "utf8")) as { dependencies?: Record<string, string> }
    for (const dependency of Object.keys(dependencies)) visit(dependency, path)
  }
  visit(packageName, import.meta.url)
  return found.size - 1
}
