/**
 * Bundles each entry of the built webhook verifier as a partner's bundler does, and checks its size. Then installs only its tarball, and
 * type-checks a consumer of every entry with the oldest TypeScript that resolves modules by `exports`.
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
const MAX_CORE_BYTES = 2048
/** The maximum size of an adapter, without the core. */
const MAX_ADAPTER_BYTES = 2048
const TYPESCRIPT = "4.7.4"

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

// The platform `neutral` has no built-in modules, so a core that imports one fails to bundle.
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
  'export * from "./index.node.js"; export * from "./testing.js"',
  builtinModules.map((it) => `node:${it}`),
)

const consumer = mkdtempSync(join(tmpdir(), "outreach-verifier-alone-"))
try {
  execFileSync("pnpm", ["pack", "--pack-destination", consumer], { cwd: folder })
  const [tarball = ""] = globSync("*.tgz", { cwd: consumer })
  writeFileSync(join(consumer, "package.json"), '{ "private": true }')
  const install = ["install", "--no-audit", "--no-fund", `./${tarball}`, `typescript@${TYPESCRIPT}`]
  execFileSync("npm", install, { cwd: consumer, stdio: "pipe" })
  const installed = globSync(["node_modules/*", "node_modules/@*/*"], { cwd: consumer }).filter(
    (it) => !/\/@[^/]*$/.test(it),
  )
  const expected = ["node_modules/@outreach/webhook-verifier", "node_modules/typescript"]
  if (installed.sort().join() !== expected.join())
    violations.push(`It installs other packages: ${installed.join(", ")}`)

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
      return String(event.event_type)
  }
}
export const openedAt = (event: WebhookEvent): string | undefined =>
  event.event_type === "outreach.email_opened" ? event.data.opened_at : undefined
// @ts-expect-error the data of an opened e-mail has no reason
export const none = (event: WebhookEvent) => event.event_type === "outreach.email_opened" && event.data.bounce_reason.length
`
  for (const extension of ["mts", "cts"]) writeFileSync(join(consumer, `consumer.${extension}`), source)
  for (const resolution of ["node16", "nodenext"]) {
    const compilerOptions = {
      ...{ module: resolution, moduleResolution: resolution, target: "es2022", lib: ["es2022", "dom"], types: [] },
      ...{ strict: true, skipLibCheck: false, noEmit: true },
    }
    writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts", "*.cts"] }))
    try {
      execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "."], { cwd: consumer, stdio: "pipe" })
    } catch (error) {
      violations.push(
        `TypeScript ${TYPESCRIPT} refuses it under ${resolution}:\n${(error as { stdout: Buffer }).stdout}`,
      )
    }
  }
} finally {
  rmSync(consumer, { recursive: true, force: true })
}
if (!readFileSync(join(folder, "README.md"), "utf8").includes("2 KB"))
  violations.push("The README does not state its size")
report(violations, `core ${core} bytes, ${adapters.join(", ")}`)
