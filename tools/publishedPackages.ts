import { globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The repository's root folder. */
export const root: string = dirname(import.meta.dirname)

/** The fields of a published `package.json` that the scripts read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly publishConfig: {
    readonly exports?: Readonly<Record<string, string | { readonly import: { readonly types: string } }>>
  }
}

/** A workspace package that is published to the registry. */
export interface PublishedPackage {
  readonly name: string
  /** Absolute path. */
  readonly folder: string
  readonly manifest: Manifest
  /** Each importable subpath: the specifier, and its built ESM declarations as a path inside the folder. A program has none. */
  readonly entries: readonly { readonly specifier: string; readonly types: string }[]
  /** The tags of its `turbo.json`. */
  readonly tags: readonly string[]
}

/** Lists the workspace packages that are not private, by path. Throws if there is none, so that no script passes without checking anything. */
export function publishedPackages(): readonly PublishedPackage[] {
  const found = globSync("{packages,apps}/*/package.json", { cwd: root })
    .sort()
    .map((path) => ({ folder: join(root, dirname(path)), manifest: readJson(join(root, path)) as Manifest }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ folder, manifest }) => ({
      name: manifest.name,
      folder,
      manifest,
      entries: Object.entries(manifest.publishConfig.exports ?? {}).flatMap(([subpath, target]) =>
        typeof target === "string" ? [] : [{ specifier: manifest.name + subpath.slice(1), types: target.import.types }],
      ),
      tags: (readJson(join(folder, "turbo.json")) as { tags: string[] }).tags,
    }))
  if (found.length === 0) throw new Error("no published package found")
  return found
}

/** Lists the published packages that are imported, not only run. */
export const publishedLibraries = (): readonly PublishedPackage[] =>
  publishedPackages().filter(({ entries }) => entries.length > 0)

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"))
}
