/**
 * Follows the README's section for partners: saves its file, and runs its commands in one shell beside a sandbox, until the receiver has verified
 * an event of the sandbox. Only the ports and the folders differ.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const SECTION = /^## Receive webhooks\n([\s\S]*?)^## /m
const FENCE = /^```(sh|js)\n([\s\S]*?)^```$/gm
/** Five minutes, as the section promises. */
const TIMEOUT_MS = 300_000

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}

// If npx runs this script, this variable would make every npx below use the same packages. A partner's shell does not set it.
const { npm_config_package: _, ...withoutNpx } = process.env

const pnpm = execFileSync("which", ["pnpm"], { encoding: "utf8" }).trim()
const startedAt = Date.now()
const violations: string[] = []
const folder = mkdtempSync(join(tmpdir(), "outreach-quick-start-"))
chmodSync(folder, 0o755)
const section = SECTION.exec(readFileSync(join(root, "README.md"), "utf8"))?.[1] ?? ""
const fences = [...section.matchAll(FENCE)].map(([, language, code = ""]) => ({ language, code }))
const [sandboxPort, receiverPort] = [await freePort(), await freePort()]
const sandbox = spawn(
  process.execPath,
  [join(root, "apps/sandbox/src/main.ts"), "--port", `${sandboxPort}`, "--folder", join(folder, ".sandbox")],
  { stdio: ["ignore", "pipe", "pipe"] },
)
const ended = once(sandbox, "close")
let output = ""
for (const stream of [sandbox.stdout, sandbox.stderr]) stream.on("data", (chunk) => { output += chunk }) // biome-ignore format: short
try {
  // `pnpm` must find this sandbox, and pack into this folder what is built.
  const bin = join(folder, "bin")
  mkdirSync(bin)
  const commands = {
    "package:partners": `"${join(root, "tools/packPartners.ts")}" dist/partners`,
    ops: `"${join(root, "apps/ops/src/main.ts")}"`,
  }
  const cases = Object.entries(commands).map(
    ([name, script]) => `${name}) shift; exec "${process.execPath}" ${script} "$@" ;;`,
  )
  writeFileSync(join(bin, "pnpm"), `#!/bin/sh\ncase "$1" in\n${cases.join("\n")}\nesac\nexec "${pnpm}" "$@"\n`)
  chmodSync(join(bin, "pnpm"), 0o755)

  const receiver = join(folder, "receiver")
  mkdirSync(receiver)
  const here = (code: string): string =>
    code.replaceAll("/tmp/receiver", receiver).replaceAll(/\b3000\b/g, `${receiverPort}`)
  for (const { code } of fences.filter(({ language }) => language === "js")) {
    writeFileSync(join(receiver, "receiver.mjs"), here(code))
  }
  const mails = /mails [1-9]/
  while (!(existsSync(join(folder, ".sandbox/sandbox.json")) && mails.test(output))) {
    if (sandbox.exitCode !== null) throw new Error(`the sandbox ended:\n${output}`)
    if (Date.now() - startedAt > TIMEOUT_MS) throw new Error(`the sandbox sends no mail:\n${output}`)
    await wait(200)
  }
  const script = fences.filter(({ language }) => language === "sh").map(({ code }) => here(code))
  // The receiver prints the verified events. The shell waits for a click event of the sandbox, and then kills its background jobs.
  const shell = `set -eu
exec 2>&1
trap 'kill $(jobs -p)' EXIT
exec > >(tee "${folder}/shown")
${script.join("\n")}
for _ in $(seq 300); do grep -q "outreach.email_clicked" "${folder}/shown" && exit 0; sleep 0.2; done
exit 1`
  const { status, stdout } = spawnSync("bash", ["-c", shell], {
    cwd: folder,
    encoding: "utf8",
    env: { ...withoutNpx, PATH: `${bin}:${process.env["PATH"]}` },
    timeout: TIMEOUT_MS,
  })
  if (script.length === 0) violations.push("README.md has no section that begins with ## Receive webhooks")
  else if (status !== 0 || !stdout.includes('{"received":true}')) violations.push(`The quick start fails:\n${stdout}`)
  if (Date.now() - startedAt > TIMEOUT_MS) violations.push("The quick start takes longer than five minutes")
} finally {
  sandbox.kill("SIGTERM")
  await ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
report(violations, `${Math.round((Date.now() - startedAt) / 1000)} s`)
