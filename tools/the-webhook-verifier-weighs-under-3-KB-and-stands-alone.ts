/**
 * Bundles each entry of the built webhook verifier as a partner's bundler does, and checks its size. Then installs only its tarball, and
 * type-checks a consumer of every entry, with and without the types of Fetch, from the oldest TypeScript that resolves modules by `exports`
 * to the newest.
 */
import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { publishedPackages } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** The maximum size of the core, minified and compressed. */
const MAX_CORE_BYTES = 2944
/** The maximum size of an adapter, without the core. */
const MAX_ADAPTER_BYTES = 2048
const OLDEST_TYPESCRIPT = "4.7.4"
const TYPESCRIPTS = ["5.0.4", "5.9.3", "6.0.3", "7.0.2"]
/** Type libraries of consumers with the types of Fetch; those of Node need TypeScript 5.2. */
const FETCH_TYPES = {
  nowhere: { lib: ["es2022"], types: [] },
  "lib DOM": { lib: ["es2022", "dom"], types: [] },
  "@types/node": { lib: ["es2022"], types: ["node"] },
}

const { folder, name, entries } = publishedPackages().find(({ name }) => name === "@outreach/webhook-verifier")!
const violations: string[] = []

/** Bundles a source text that imports from `dist`. */
async function bundle(contents: string, external: readonly string[] = []): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(folder, "dist") },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    external: [...external],
    write: false,
    logLevel: "silent",
  })
  return outputFiles[0]!.contents
}
const weigh = async (...args: Parameters<typeof bundle>): Promise<number> =>
  gzipSync(await bundle(...args), { level: 9 }).length

// The platform `neutral` has no built-in modules, so an entry that imports one can't be bundled.
await bundle('export * from "./testing.js"')
const core = await weigh('export * from "./index.js"')
if (core > MAX_CORE_BYTES) violations.push(`The core weighs ${core} bytes, more than ${MAX_CORE_BYTES}`)
const unused = await bundle('import "./index.js"')
if (unused.length > 0) violations.push(`The core has side effects: ${Buffer.from(unused)}`)
const adapters: string[] = []
for (const adapter of ["express", "fastify", "fetch", "hono", "lambda", "node"]) {
  const weight = await weigh(`export * from "./${adapter}.js"`)
  adapters.push(`${adapter} ${weight}`)
  if (weight > MAX_ADAPTER_BYTES)
    violations.push(`The adapter ${adapter} weighs ${weight} bytes, more than ${MAX_ADAPTER_BYTES}`)
}
await bundle(
  'export * from "./index.node.js"; export * from "./testing.node.js"',
  builtinModules.map((it) => `node:${it}`),
)

const consumer = mkdtempSync(join(tmpdir(), "outreach-verifier-alone-"))
try {
  execFileSync("pnpm", ["pack", "--pack-destination", consumer], { cwd: folder })
  const [tarball = ""] = globSync("*.tgz", { cwd: consumer })
  writeFileSync(join(consumer, "package.json"), '{ "private": true }')
  const npmInstall = (...args: string[]): unknown =>
    execFileSync("npm", ["install", "--no-audit", "--no-fund", ...args], { cwd: consumer, stdio: "pipe" })
  npmInstall(`./${tarball}`, `typescript@${OLDEST_TYPESCRIPT}`)
  const installed = globSync(["node_modules/*", "node_modules/@*/*"], { cwd: consumer }).filter(
    (it) => !/\/@[^/]*$/.test(it),
  )
  const expected = ["node_modules/@outreach/webhook-verifier", "node_modules/typescript"]
  if (installed.sort().join() !== expected.join())
    violations.push(`It installs other packages: ${installed.join(", ")}`)
  npmInstall("@types/node@24", ...TYPESCRIPTS.map((version) => `typescript-${version}@npm:typescript@${version}`))

  const imports = entries.map(({ specifier }, i) => `import * as it${i} from "${specifier}"\n`).join("")
  const source = `${imports}
import { createWebhookVerifier, type WebhookEvent } from "${name}"
export const entries = [${entries.map((_, i) => `it${i}`).join(", ")}]
export const verifier = createWebhookVerifier({ secrets: ["s"] })
export const reasonOf = (event: WebhookEvent): string => {
  switch (event.event_type) {
    case "outreach.email_bounced":
      return event.data.bounce_reason
    case "outreach.email_sent":
      return event.data.token
    default:
      return event.event_type.toUpperCase()
  }
}
export const openedAt = (event: WebhookEvent): string | undefined =>
  event.event_type === "outreach.email_opened" ? event.data.opened_at : undefined
export const count = (event: WebhookEvent, counts: Map<string, number>) => {
  const name: string = event.event_type
  counts.set(event.event_type, (counts.get(name) ?? 0) + 1)
}
// @ts-expect-error the data of an opened e-mail has no reason
export const none = (event: WebhookEvent) => event.event_type === "outreach.email_opened" && event.data.bounce_reason.length
// @ts-expect-error no event has this name
export const slip = (event: WebhookEvent) => event.event_type === "outreach.email_snet"
`
  const fetching = `import { createWebhookVerifier } from "${name}"
import { webhookHandler } from "${name}/fetch"
export const POST: (request: Request) => Promise<Response> = webhookHandler(createWebhookVerifier({ secrets: ["s"] }), () => {})
export const status = async (): Promise<number> => (await POST(new Request("https://partner.test"))).status
`
  for (const extension of ["mts", "cts"]) {
    writeFileSync(join(consumer, `consumer.${extension}`), source)
    writeFileSync(join(consumer, `fetching.${extension}`), fetching)
  }
  for (const version of [OLDEST_TYPESCRIPT, ...TYPESCRIPTS]) {
    const compiler = join("node_modules", version === OLDEST_TYPESCRIPT ? "typescript" : `typescript-${version}`)
    for (const [fetchTypes, { lib, types }] of Object.entries(FETCH_TYPES)) {
      if (fetchTypes === "@types/node" && Number.parseFloat(version) < 5.2) continue
      const compilerOptions = {
        ...{ module: "node16", moduleResolution: "node16", target: "es2022", lib, types },
        ...{ strict: true, skipLibCheck: false, noEmit: true },
      }
      const include = fetchTypes === "nowhere" ? ["consumer.*"] : ["*.mts", "*.cts"]
      writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, include }))
      try {
        execFileSync(process.execPath, [join(compiler, "bin/tsc"), "-p", "."], { cwd: consumer, stdio: "pipe" })
      } catch (error) {
        const { stdout } = error as { stdout: Buffer }
        violations.push(`TypeScript ${version} refuses it with types of Fetch from ${fetchTypes}:\n${stdout}`)
      }
    }
  }
} finally {
  rmSync(consumer, { recursive: true, force: true })
}
if (!readFileSync(join(folder, "README.md"), "utf8").includes("2.9 KB"))
  violations.push("The README does not state its size")
report(violations, `core ${core} bytes, ${adapters.join(", ")}`)
