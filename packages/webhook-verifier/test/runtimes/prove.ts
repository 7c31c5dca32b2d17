/**
 * Runs the external vectors on the packed verifier, and on its and the client's stores, on every runtime from npm and in a browser: `pnpm prove:runtimes`.
 *
 * Node, Deno and Bun resolve the package themselves; the worker and the browser get a bundle with their conditions.
 */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { build } from "esbuild"
import { chromium } from "playwright-core"
import { sampleEvent, signWebhook } from "../../src/testing.ts"

const here = import.meta.dirname
const packageFolder = join(here, "../..")
const folder = mkdtempSync(join(tmpdir(), "outreach-runtimes-"))
const npm = (...args: string[]) =>
  execFileSync("npm", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
const NODES = ["18", "20", "22", "24"]

let failed = false
async function prove(runtime: string, check: () => Promise<string> | string): Promise<void> {
  try {
    console.log(`ok      ${runtime}: ${(await check()).trim()}`)
  } catch (error) {
    failed = true
    const { stderr = "", message } = error as { stderr?: string; message: string }
    console.log(`FAILED  ${runtime}: ${stderr || message}`)
  }
}

const type = "outreach.email_clicked"
const [secret, timestamp] = ["whsec_4283fefc63f0cd0e873a0000c6d07ef7b77e90d3593ad699", 1_780_000_000]
const event = { ...sampleEvent(type, { timestamp }), metadata: { note: "Zoë — 診 🚀" } }
const signed = { ...(await signWebhook(event, [secret], { timestamp })), type, secret, timestamp }
const vectors = join(packageFolder, "../signature/test/data/signature-vectors.json")
const { cases } = JSON.parse(readFileSync(vectors, "utf8")) as { cases: unknown[] }

/** Bundles the Fetch server as the runtime's bundler would. */
async function bundle(conditions: string[], entry: string): Promise<string> {
  const options = {
    absWorkingDir: folder,
    bundle: true,
    format: "esm",
    conditions,
    write: false,
    platform: "neutral",
  } as const
  const { outputFiles } = await build({ ...options, entryPoints: [entry] })
  return outputFiles[0]!.text
}

/** Posts the webhook and an altered one to a server, which must acknowledge only the first. */
async function postTo(url: string): Promise<void> {
  for (const [body, expected] of [
    [signed.body, 200],
    [`${signed.body} `, 401],
  ] as const) {
    const { status } = await fetch(url, { method: "POST", headers: signed.headers, body })
    if (status !== expected) throw new Error(`POST answered ${status} instead of ${expected}`)
  }
}

try {
  for (const name of ["webhook-verifier", "client", "error-catalog", "retry-policy", "signature"]) {
    const cwd = join(packageFolder, "..", name)
    execFileSync("pnpm", ["build"], { cwd, stdio: "pipe" })
    execFileSync("pnpm", ["pack", "--pack-destination", folder], { cwd, stdio: "pipe" })
  }
  const tarballs = globSync("*.tgz", { cwd: folder }).map((file) => `./${file}`)
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
  writeFileSync(join(folder, "data.mjs"), `export default ${JSON.stringify({ cases, signed })}\n`)
  for (const file of ["vectors.mjs", "served.mjs", "local.mjs", "stores.mjs"]) {
    copyFileSync(join(here, file), join(folder, file))
  }
  npm("install", "--no-audit", "--no-fund", ...tarballs, "deno@2", "bun@1", "miniflare@4", "better-sqlite3@13")

  for (const version of NODES) {
    await prove(`Node ${version}`, () => {
      const run = (...args: string[]) => npm("exec", "--yes", "--package", `node@${version}`, "--", "node", ...args)
      return `${run("--version").trim()}, ${run("local.mjs").trim()} checks, ${run("stores.mjs")}`
    })
  }
  for (const [runtime, args] of [
    ["deno", ["run", "--allow-all", "--node-modules-dir=manual"]],
    ["bun", ["run"]],
  ] as const) {
    const command = join(folder, "node_modules/.bin", runtime)
    const run = (args: readonly string[]) =>
      execFileSync(command, args, { cwd: folder, encoding: "utf8", stdio: "pipe" })
    await prove(
      runtime,
      () =>
        `${run(["--version"]).split("\n")[0]}, ${run([...args, "local.mjs"]).trim()} checks, ${run([...args, "stores.mjs"])}`,
    )
    await prove(`${runtime}, serving`, async () => {
      const serve =
        runtime === "deno"
          ? ["serve", "--allow-read", "--node-modules-dir=manual", "--port", "0", "--host", "127.0.0.1", "served.mjs"]
          : ["run", "--port=0", "served.mjs"]
      const server = spawn(command, serve, { cwd: folder, env: { ...process.env, HOST: "127.0.0.1" } })
      try {
        let told = ""
        const url = await new Promise<string>((found, lost) => {
          const read = (chunk: Buffer) => {
            told += chunk
            const port = /https?:\/\/\S+?:(\d+)/.exec(told)?.[1]
            if (port !== undefined) found(`http://127.0.0.1:${port}/`)
          }
          server.stdout.on("data", read)
          server.stderr.on("data", read)
          server.on("close", () => lost(new Error(told)))
        })
        await postTo(url)
        return "200 and 401 over HTTP"
      } finally {
        server.kill("SIGKILL")
      }
    })
  }
  await prove("workerd", async () => {
    const { Miniflare } = createRequire(join(folder, "package.json"))("miniflare")
    const worker = new Miniflare({
      modules: true,
      script: await bundle(["workerd", "worker", "browser"], "served.mjs"),
      compatibilityDate: "2026-01-01",
    })
    try {
      const url = String(await worker.ready)
      await postTo(url)
      return `${await (await fetch(url)).text()} checks, 200 and 401 over HTTP`
    } finally {
      await worker.dispose()
    }
  })
  await prove("Chromium", async () => {
    const chrome = findProgram("chromium")
    if ("missing" in chrome) return "skipped"
    const script = await bundle(["browser"], "served.mjs")
    const server = createServer((request, response) => {
      const [kind, body] =
        request.url === "/served.js" ? ["text/javascript", script] : ["text/html", "<title>vectors</title>"]
      response.writeHead(200, { "content-type": kind }).end(body)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    const browser = await chromium.launch({ executablePath: chrome.program, args: ["--no-sandbox"] })
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      // Text, because a function would be compiled by the running process.
      const held = await page.evaluate<string>(
        'import("/served.js").then((it) => it.default.fetch(new Request("/"))).then((it) => it.text())',
      )
      return `${browser.version()}, ${held} checks`
    } finally {
      await browser.close()
      server.closeAllConnections()
      server.close()
    }
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0
