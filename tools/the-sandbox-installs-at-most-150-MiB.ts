/**
 * Sums the bytes of all packages that the sandbox runs with, including PostgreSQL.
 *
 * `--limit <MiB>` sets another limit. A file system that stores whole blocks needs about 20 MiB more.
 */
import { existsSync, globSync, lstatSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const { values } = parseArgs({ options: { limit: { type: "string", default: "150" } } })
const MAX_MIB = Number(values.limit)

type Manifest = Readonly<Partial<Record<"dependencies" | "optionalDependencies" | "peerDependencies", object>>>

/** Finds a package by pnpm's links: next to an npm package, or in the folder of one of ours. */
const find = (name: string, from: string): string | undefined => {
  const [place] = from.match(/^.*\/node_modules(?=\/)/) ?? [join(from, "node_modules")]
  return existsSync(join(place, name)) ? realpathSync(join(place, name)) : undefined
}

const found = new Set<string>()
const follow = (folder: string): void => {
  if (found.has(folder)) return
  found.add(folder)
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest
  const isOurs = !folder.includes("node_modules")
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...(!isOurs && peerDependencies) })
  for (const next of names.flatMap((name) => find(name, folder) ?? [])) follow(next)
}
follow(join(root, "apps/sandbox"))

const bytesOf = (folder: string): number =>
  globSync("**", { cwd: folder, exclude: (name) => name === "node_modules" }).reduce((sum, file) => {
    const stats = lstatSync(join(folder, file))
    return stats.isFile() ? sum + stats.size : sum
  }, 0)

const sizes = [...found]
  .filter((folder) => folder.includes("node_modules"))
  .map((folder) => ({ name: folder.split("/node_modules/").at(-1)!, mib: bytesOf(folder) / 2 ** 20 }))
  .sort((one, other) => other.mib - one.mib)
const sum = sizes.reduce((total, { mib }) => total + mib, 0)
const largest = sizes.slice(0, 12).map(({ name, mib }) => `  ${name} ${mib.toFixed(1)}`)
const isTooMuch = !(sum <= MAX_MIB && sizes.length > 0)
report(
  isTooMuch ? [`npm start installs ${sum.toFixed(1)} MiB, more than ${MAX_MIB}. The largest:`, ...largest] : [],
  `${sizes.length} packages of ${sum.toFixed(1)} MiB`,
)
