/**
 * Packs every published package and installs the tarballs in one npm project. Its ESM and CommonJS consumers must type-check under each module
 * resolution, without the types of a browser or of Node, and run. The client must also type-check and run without zod.
 */
import { execFile } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { publishedLibraries, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

/** Compiler options by module resolution. */
const RESOLUTIONS = {
  node16: { module: "node16", moduleResolution: "node16" },
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "preserve", moduleResolution: "bundler" },
}

const violations: string[] = []
const execute = promisify(execFile)

/** Runs a command and returns its standard output. If it fails, adds a violation with `title` and returns null. */
async function attempt(title: string, command: string, args: readonly string[], cwd: string): Promise<string | null> {
  try {
    return (await execute(command, args, { cwd, timeout: 180_000 })).stdout
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string }
    violations.push(`${title}:\n${stdout}${stderr || message}`)
    return null
  }
}

/** Returns code that prints the sorted names that modules export. Both module systems must print the same. */
const printExports = (names: readonly string[]): string =>
  `console.log(JSON.stringify([${names.join(", ")}].map((it) => Object.keys(it).filter((key) => key !== "default" && key !== "module.exports" && key !== "__esModule").sort())))\n`

/** Returns code that starts a server, calls it with the client, and prints the results. */
const callWithClient = (load: (specifier: string) => string): string => `
const { createServer } = ${load("node:http")}
const { ApiError, createClient } = ${load("@outreach/client")}
let userAgent
const server = createServer(({ url, headers }, response) => {
  userAgent = headers["user-agent"]
  response.writeHead(url === "/v1/health" ? 200 : 404).end('{"status":"ok"}')
})
server.listen(0, "127.0.0.1", async () => {
  const client = createClient({ apiKey: "key", baseUrl: "http://127.0.0.1:" + server.address().port })
  const { status } = await client.getHealth()
  const error = await client.getToken("aB3xY9").catch((error) => error)
  console.log(status, error instanceof ApiError, error.status, userAgent.split(" ")[0])
  server.close()
})`

const packages = publishedLibraries()
const dependenciesOf = (name: string) => packages.find((one) => one.name === name)?.manifest.dependencies ?? {}
const specifiers = packages.flatMap(({ entries }) => entries.map(({ specifier }) => specifier))
const tempDir = mkdtempSync(join(tmpdir(), "outreach-tarballs-"))
try {
  const tarballs = join(tempDir, "tarballs")
  mkdirSync(tarballs)
  for (const { name, folder } of packages) {
    await attempt(`${name} cannot be packed`, "pnpm", ["pack", "--pack-destination", tarballs], folder)
  }

  const consumer = join(tempDir, "consumer")
  mkdirSync(join(consumer, "src"), { recursive: true })
  const imported = specifiers.map((_, i) => `it${i}`)
  const esm = specifiers.map((specifier, i) => `import * as it${i} from "${specifier}"\n`).join("")
  const cjs = specifiers.map((specifier, i) => `import it${i} = require("${specifier}")\n`).join("")
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true }))
  writeFileSync(join(consumer, "src/esm.mts"), esm + printExports(imported))
  writeFileSync(join(consumer, "src/cjs.cts"), cjs + printExports(imported))
  // The consumer declares `console`, and `URL` for zod's declarations.
  writeFileSync(
    join(consumer, "src/globals.d.ts"),
    "declare const console: { log(text: string): void }\ndeclare class URL {}\n",
  )
  const files = globSync("*.tgz", { cwd: tarballs }).map((file) => join(tarballs, file))
  await attempt(
    "the tarballs do not install together",
    "npm",
    ["install", "--no-audit", "--no-fund", ...files],
    consumer,
  )
  for (const [name, resolution] of Object.entries(RESOLUTIONS)) {
    const lib = { lib: ["ES2022"], types: [], target: "ES2022", skipLibCheck: false }
    const compilerOptions = {
      ...resolution,
      ...lib,
      strict: true,
      verbatimModuleSyntax: true,
      rootDir: "src",
      outDir: name,
    }
    writeFileSync(join(consumer, `${name}.json`), JSON.stringify({ compilerOptions, include: ["src"] }))
    await attempt(
      `a ${name} consumer does not type-check`,
      join(root, "node_modules/.bin/tsc"),
      ["-p", `${name}.json`],
      consumer,
    )
  }
  const fromEsm = await attempt("an ESM consumer does not run", process.execPath, ["nodenext/esm.mjs"], consumer)
  const fromCjs = await attempt("a CommonJS consumer does not run", process.execPath, ["nodenext/cjs.cjs"], consumer)
  if (fromEsm !== fromCjs) violations.push(`ESM and CommonJS export different names:\n${fromEsm}${fromCjs}`)
  const names = JSON.parse(fromEsm ?? "[]") as string[][]
  names.forEach((keys, i) => {
    if (keys.length === 0) violations.push(`${specifiers[i]} exports nothing`)
  })

  // The client's types are expanded, so it depends only on packages of this scope: no schemas, no zod.
  const alone = join(tempDir, "client")
  mkdirSync(alone)
  writeFileSync(join(alone, "package.json"), JSON.stringify({ name: "client-alone", private: true }))
  const needed = packages
    .filter(({ name, manifest }) => name === "@outreach/client" || manifest.name in dependenciesOf("@outreach/client"))
    .map(({ name }) => name.replace("@", "").replace("/", "-"))
  const own = files.filter((file) => needed.some((name) => new RegExp(`/${name}-\\d[^/]*$`).test(file)))
  await attempt("the client does not install", "npm", ["install", "--no-audit", "--no-fund", ...own], alone)
  const installed = globSync(["node_modules/*", "node_modules/@*/*"], { cwd: alone })
    .map((path) => path.slice("node_modules/".length))
    .filter((name) => name !== "@outreach")
  const unneeded = installed.filter(
    (name) => !(name === "@outreach/client" || name in dependenciesOf("@outreach/client")),
  )
  if (unneeded.length > 0) violations.push(`the client installs ${unneeded.join(", ")}`)
  writeFileSync(
    join(alone, "types.mts"),
    'import { type FeedEvent, createClient } from "@outreach/client"\nexport type Made = ReturnType<typeof createClient>\nexport const typeOf = (event: FeedEvent): "outreach.email_sent" | undefined => event.event_type === "outreach.email_sent" ? event.event_type : undefined\n',
  )
  const strict = ["--strict", "--noEmit", "--module", "nodenext", "--lib", "ES2023", "--types", ""]
  await attempt(
    "the client alone does not type-check",
    join(root, "node_modules/.bin/tsc"),
    [...strict, "types.mts"],
    alone,
  )
  writeFileSync(
    join(alone, "call.mjs"),
    callWithClient((specifier) => `await import("${specifier}")`),
  )
  writeFileSync(
    join(alone, "call.cjs"),
    callWithClient((specifier) => `require("${specifier}")`),
  )
  const version = packages.find(({ name }) => name === "@outreach/client")!.manifest.version
  for (const file of ["call.mjs", "call.cjs"]) {
    const output = await attempt(`the client does not run in ${file}`, process.execPath, [file], alone)
    const expected = `ok true 404 outreach-client/${version}\n`
    if (output !== null && output !== expected) violations.push(`the client in ${file} prints ${output}`)
  }
} finally {
  rmSync(tempDir, { recursive: true, force: true })
}
report(violations, `${packages.length} packages, ${specifiers.length} entry points`)
