/**
 * Packs every published package as the release does, and checks the tarballs: publint and attw accept them; the manifest has the URLs and
 * keywords for a registry, and nothing of this workspace; each module of a library has a source map that needs no other file. A program has the licenses
 * and the list of its bundled packages.
 * Arguments name the packages; by default all of them.
 */
import { execFile } from "node:child_process"
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { builtinModules } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"
import { promisify } from "node:util"
import { type PublishedPackage, publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const REPOSITORY = "https://github.com/example/outreach-partner-api"
/** `crypto` can be an npm package of that name; Deno and Workers know only `node:crypto`. */
const BARE_BUILTIN = new RegExp(
  `(?:\\bfrom|\\bimport|(?:\\bimport|\\brequire)\\() ?["'](?:${builtinModules.join("|")})["']`,
)

/** The fields of a packed `package.json` that are checked. */
interface PackedManifest {
  readonly homepage?: string
  readonly bugs?: { readonly url?: string }
  readonly repository?: { readonly url?: string; readonly directory?: string }
  readonly keywords?: readonly string[]
  readonly exports?: Readonly<Record<string, unknown>>
  readonly devDependencies?: object
  readonly scripts?: object
}

const named = process.argv.slice(2)
const packages = publishedPackages().filter(({ name }) => named.length === 0 || named.includes(name))
const tempDir = mkdtempSync(join(tmpdir(), "outreach-tarballs-"))

/** Runs a command of a package's tools. Returns its output if it fails. */
async function failure(command: string, args: readonly string[], cwd: string): Promise<string | undefined> {
  const env = { ...process.env, GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: REPOSITORY.slice(19) }
  try {
    await promisify(execFile)(command, args, { cwd, env, timeout: 180_000 })
    return undefined
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string }
    return `${stdout}${stderr}` || message
  }
}

function* manifestFaults(manifest: PackedManifest, directory: string): Generator<string> {
  const { homepage, bugs, repository, keywords = [], exports = {} } = manifest
  if (homepage !== `${REPOSITORY}/tree/HEAD/${directory}#readme`) yield `names the homepage ${homepage}`
  if (bugs?.url !== `${REPOSITORY}/issues`) yield `names the address of issues ${bugs?.url}`
  if (repository?.url !== `git+${REPOSITORY}.git` || repository.directory !== directory) yield "names no repository"
  if (keywords.length < 3) yield "has fewer than three keywords"
  if (exports["./package.json"] !== "./package.json") yield "does not export ./package.json"
  if ("devDependencies" in manifest || "scripts" in manifest) yield "carries devDependencies or scripts"
}

function* moduleFaults(folder: string, file: string): Generator<string> {
  const code = readFileSync(join(folder, file), "utf8")
  const [bare] = BARE_BUILTIN.exec(code) ?? []
  if (bare !== undefined) yield `imports a module of Node without node: in ${file}: ${bare}`
  if (/\.c?ts$/.test(file)) return
  const map = join(folder, `${file}.map`)
  if (!code.endsWith(`\n//# sourceMappingURL=${basename(map)}`) || !existsSync(map))
    return yield `${file} has no source map`
  const { sources, sourcesContent = [] } = JSON.parse(readFileSync(map, "utf8")) as {
    sources: string[]
    sourcesContent?: (string | null)[]
  }
  for (const [i, source] of sources.entries()) {
    const isThere = typeof sourcesContent[i] === "string" || existsSync(join(dirname(map), source))
    if (!isThere) yield `the source map of ${file} lacks the text of ${source}`
  }
}

async function tarballFaults({ folder, entries }: PublishedPackage): Promise<readonly string[]> {
  const isLibrary = entries.length > 0
  const name = basename(folder)
  const tarball = join(tempDir, `${name}.tgz`)
  const unpacked = join(tempDir, name)
  mkdirSync(unpacked)
  const packed =
    (await failure("pnpm", ["pack", "--out", tarball], folder)) ??
    (await failure("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"], tempDir))
  if (packed !== undefined) return [`cannot be packed: ${packed}`]
  const bin = join(root, "tools/node_modules/.bin")
  const [publint, attw] = await Promise.all([
    failure(join(bin, "publint"), ["run", tarball, "--strict"], tempDir),
    isLibrary ? failure(join(bin, "attw"), [tarball, "--profile", "strict", "--format", "ascii"], tempDir) : undefined,
  ])
  const missing = ["README.md", "LICENSE", ...(isLibrary ? ["dist"] : ["LICENSES.txt", "sbom.json"])].filter(
    (path) => !existsSync(join(unpacked, path)),
  )
  const manifest = JSON.parse(readFileSync(join(unpacked, "package.json"), "utf8")) as PackedManifest
  return [
    ...(publint === undefined ? [] : [`is refused by publint: ${publint}`]),
    ...(attw === undefined ? [] : [`is refused by attw: ${attw}`]),
    ...missing.map((path) => `lacks ${path}`),
    ...globSync("{src,test}", { cwd: unpacked }).map((path) => `carries ${path}`),
    ...manifestFaults(manifest, relative(root, folder)),
    ...globSync("dist/**/*.{js,cjs,ts,cts}", { cwd: unpacked }).flatMap((file) => [...moduleFaults(unpacked, file)]),
  ]
}

try {
  const faults = packages.map(async (each) => (await tarballFaults(each)).map((fault) => `${each.name} ${fault}`))
  report((await Promise.all(faults)).flat(), `${packages.length} tarballs`)
} finally {
  rmSync(tempDir, { recursive: true, force: true })
}
