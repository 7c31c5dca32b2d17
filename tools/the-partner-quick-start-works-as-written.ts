/**
 * Follows the README's section for partners to the letter: its shell commands in one shell, beside a sandbox, with its file saved where it
 * says; until an event of the sandbox was verified. Only ports, folders and where the package comes from differ.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const SECTION = /^## Receive webhooks\n([\s\S]*?)^## /m
const FENCE = /^```(sh|js)\n([\s\S]*?)^```$/gm
/** Five minutes, as the section promises. */
const PROMISED = 300_000

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  await new Promise((closed) => server.close(closed))
  return port
}

// Where npx runs this, it tells every npx beneath which packages to take, which a partner's shell does not.
const { npm_config_package: _, ...withoutNpx } = process.env

const begun = Date.now()
const breaches: string[] = []
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
let told = ""
for (const stream of [sandbox.stdout, sandbox.stderr]) stream.on("data", (chunk) => { told += chunk }) // biome-ignore format: short
try {
  execFileSync("pnpm", ["pack", "--pack-destination", folder], { cwd: join(root, "packages/webhook-verifier") })
  const [tarball = ""] = globSync("*.tgz", { cwd: folder })
  // The package is not on the registry yet, and `pnpm ops` is to find this sandbox.
  const bin = join(folder, "bin")
  mkdirSync(bin)
  const npm = execFileSync("which", ["npm"], { encoding: "utf8" }).trim()
  writeFileSync(
    join(bin, "npm"),
    `#!/bin/sh\n[ "$1 $2" = "install @outreach/webhook-verifier" ] && set -- install --no-audit --no-fund "${join(folder, tarball)}"\nexec "${npm}" "$@"\n`,
  )
  writeFileSync(
    join(bin, "pnpm"),
    `#!/bin/sh\n[ "$1" = ops ] && shift && exec "${process.execPath}" "${join(root, "apps/ops/src/main.ts")}" "$@"\nexit 2\n`,
  )
  for (const name of ["npm", "pnpm"]) chmodSync(join(bin, name), 0o755)

  const receiver = join(folder, "receiver")
  mkdirSync(receiver)
  const here = (code: string): string =>
    code.replaceAll("/tmp/receiver", receiver).replaceAll(/\b3000\b/g, `${receiverPort}`)
  for (const { code } of fences.filter(({ language }) => language === "js")) {
    writeFileSync(join(receiver, "receiver.mjs"), here(code))
  }
  const mails = /mails [1-9]/
  while (!(existsSync(join(folder, ".sandbox/sandbox.json")) && mails.test(told))) {
    if (sandbox.exitCode !== null) throw new Error(`the sandbox ended:\n${told}`)
    if (Date.now() - begun > PROMISED) throw new Error(`the sandbox sends no mail:\n${told}`)
    await wait(200)
  }
  const script = fences.filter(({ language }) => language === "sh").map(({ code }) => here(code))
  // The receiver prints what it verified; the shell waits for the event of the sandbox, and ends what it has begun.
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
    timeout: PROMISED,
  })
  if (script.length === 0) breaches.push("README.md has no section that begins with ## Receive webhooks")
  else if (status !== 0 || !stdout.includes('{"received":true}')) breaches.push(`The quick start fails:\n${stdout}`)
  if (Date.now() - begun > PROMISED) breaches.push("The quick start takes longer than five minutes")
} finally {
  sandbox.kill("SIGTERM")
  await ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
report(breaches, `${Math.round((Date.now() - begun) / 1000)} s`)
