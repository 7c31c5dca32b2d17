/**
 * Follows the README as a new user with an empty home and only npm, Node, curl and Debian's standard programs: starts the sandbox, runs the
 * commands for partners and those that the sandbox prints, runs a test, and stops everything.
 * Only the ports and the folders differ.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { loopbackAddress } from "@outreach/embedded-postgres/loopbackAddress"
import { listFiles } from "./listFiles.ts"
import { root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const COMMANDS = /^## Two commands\n([\s\S]*?)^## /m
const SECTION = /^## Receive webhooks\n([\s\S]*?)^## /m
const FENCE = /^```(sh|js)\n([\s\S]*?)^```$/gm
/** Ends a run that hangs. The first start downloads Node, pnpm and all dependencies. */
const TIMEOUT_MS = 2_400_000
/** The newcomer's programs: links to those of this machine. Every Debian has the programs of `EVERYWHERE`. */
const PROGRAMS = ["node", "npm", "npx", "curl"]
const EVERYWHERE = "bash sh grep sed xargs cat dirname head mkdir rm seq sleep tee uname".split(" ")
const A_TEST = "packages/bot-suspicion/test/suspect.test.ts"

const canRun = (folder: string, program: string): boolean => {
  try {
    accessSync(join(folder, program), constants.X_OK)
    return true
  } catch {
    return false
  }
}
function locate(program: string): string {
  const found = PATH.find((it) => canRun(it, program))
  if (found === undefined) throw new Error(`this machine has no ${program}`)
  return join(found, program)
}
const fencesOf = (section: RegExp): ReadonlyArray<{ readonly language: string; readonly code: string }> => {
  const [, text = ""] = section.exec(readFileSync(join(root, "README.md"), "utf8")) ?? []
  return [...text.matchAll(FENCE)].map(([, language = "", code = ""]) => ({ language, code }))
}
const npmSetting = (name: string): string => execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim()

const violations: string[] = []
const deadline = Date.now() + TIMEOUT_MS
const folder = mkdtempSync(join(tmpdir(), "outreach-newcomer-"))
chmodSync(folder, 0o755)
const home = join(folder, "home")
const clone = join(home, "clone")
const programs = join(folder, "programs")
// Without the folders that npx or pnpm adds for this script.
const PATH = process.env["PATH"]!.split(delimiter).filter((it) => !it.includes("node_modules"))
const isNewUser = process.getuid?.() === 0 && PATH.some((it) => canRun(it, "useradd"))
const user = `newcomer${process.pid}`
const environment = {
  HOME: home,
  USER: user,
  PATH: programs,
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$|^NODE_EXTRA_CA_CERTS$/i.test(name)),
  ),
}

interface Started {
  readonly child: ChildProcess
  /** The output so far. */
  readonly output: () => string
  /** The part of the output on standard output. */
  readonly written: () => string
}

/** Starts a shell line as the newcomer, in its own process group as a terminal does. */
function start(line: string, cwd: string, env: NodeJS.ProcessEnv = {}): Started {
  const command = ["bash", "-c", line] as const
  const [program = "", ...args] = isNewUser
    ? [locate("setpriv"), `--reuid=${user}`, `--regid=${user}`, "--init-groups", ...command]
    : command
  const child = spawn(program, args, {
    cwd,
    env: { ...environment, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  let printed = ""
  let written = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text
    written += text
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed += text
  })
  return { child, output: () => printed, written: () => written }
}

const hasEnded = ({ child: { exitCode, signalCode } }: Started): boolean => exitCode !== null || signalCode !== null

/** Runs a line to its end and returns its standard output. A failure is a violation. */
async function run(line: string, cwd = clone, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { child, output, written } = start(line, cwd, env)
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), Math.max(0, deadline - Date.now()))
  const [code] = await once(child, "close")
  clearTimeout(timer)
  if (code !== 0) violations.push(`This fails for a newcomer with ${code}:\n${line}\n${output()}`)
  return written()
}

mkdirSync(clone, { recursive: true })
mkdirSync(programs)
for (const program of [...PROGRAMS, ...EVERYWHERE]) symlinkSync(locate(program), join(programs, program))
if (isNewUser) execFileSync("useradd", ["--home-dir", home, "--no-create-home", "--shell", "/bin/bash", user])
let sandbox: Started | undefined
try {
  for (const path of listFiles()) cpSync(join(root, path), join(clone, path), { recursive: true })
  // Settings that the machine needs to reach the registry.
  const settings = ["registry", "cafile"].map((name) => [name, npmSetting(name)] as const)
  writeFileSync(
    join(home, ".npmrc"),
    settings
      .filter(([, value]) => value !== "null")
      .map((pair) => `${pair.join("=")}\n`)
      .join(""),
  )
  if (isNewUser) execFileSync("chown", ["-R", `${user}:`, home])

  const commands = fencesOf(COMMANDS).flatMap(({ code }) => code.trim().split("\n"))
  if (commands.join() !== "npm start,npm test")
    violations.push(`README.md names other commands: ${commands.join(", ")}`)
  const host = loopbackAddress()
  sandbox = start(`npm start -- --host ${host}`, clone)
  const ended = once(sandbox.child, "close")
  while (!(existsSync(join(clone, ".sandbox/sandbox.json")) && /mails [1-9]/.test(sandbox.output()))) {
    if (hasEnded(sandbox)) throw new Error(`npm start ended:\n${sandbox.output()}`)
    if (Date.now() > deadline) throw new Error(`the sandbox sends no mail:\n${sandbox.output()}`)
    await wait(200)
  }

  const receiver = join(home, "receiver")
  const here = (code: string): string =>
    code
      .replaceAll("/tmp/receiver", receiver)
      .replaceAll("listen(3000,", `listen(3000, "${host}",`)
      .replaceAll("127.0.0.1", host)
  const fences = fencesOf(SECTION)
  const modules = fences.filter(({ language }) => language === "js").map(({ code }) => here(code))
  const script = fences.filter(({ language }) => language === "sh").map(({ code }) => here(code))
  if (script.length === 0) violations.push("README.md has no section that begins with ## Receive webhooks")
  // The receiver prints the verified events. The shell waits for a click event of the sandbox, and then kills its background jobs.
  const received = await run(`set -eu
mkdir -p "${receiver}"
cat > "${receiver}/receiver.mjs" <<'END'
${modules.join("\n")}
END
exec 2>&1
trap 'kill $(jobs -p)' EXIT
exec > >(tee "${home}/shown")
${script.join("\n")}
for _ in $(seq 1500); do grep -q "outreach.email_clicked" "${home}/shown" && exit 0; sleep 0.2; done
exit 1`)
  if (!received.includes('{"received":true}'))
    violations.push(`The receiver does not acknowledge the sample:\n${received}`)

  const printed = [...sandbox.output().matchAll(/^ {2}((?:npm run|curl) .+)$/gm)].map(([, line = ""]) => line)
  if (printed.length !== 5) violations.push(`The sandbox prints ${printed.length} commands:\n${sandbox.output()}`)
  for (const line of printed) await run(line)
  if (/\bpnpm\b/.test(sandbox.output().slice(sandbox.output().indexOf("documents  "))))
    violations.push("The sandbox prints a command of pnpm")
  // Only the result is on standard output, and from here on no command needs the registry.
  const list = await run("npm run --silent ops -- organizations list --output json", clone, {
    npm_config_registry: "http://127.0.0.1:9/",
  })
  try {
    JSON.parse(list)
  } catch {
    violations.push(`ops writes more than JSON to standard output:\n${list}`)
  }
  await run(`npm test -- ${A_TEST}`)
  const wrong = start("npm run --silent ops -- nonsense", clone)
  const [code] = await once(wrong.child, "close")
  if (code !== 2) violations.push(`npm run ops ends with ${code} where ops ends with 2`)

  // Ctrl-C reaches every process of the terminal.
  process.kill(-sandbox.child.pid!, "SIGINT")
  await ended
  if (isNewUser) {
    const left = () =>
      execFileSync("ps", ["-eo", "user:32=,args="], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.startsWith(`${user} `))
    for (let i = 0; i < 300 && left().length > 0; i++) await wait(200)
    if (left().length > 0) violations.push(`Ctrl-C leaves processes:\n${left().join("\n")}`)
  }
} finally {
  if (sandbox !== undefined && !hasEnded(sandbox)) {
    const ended = once(sandbox.child, "close")
    process.kill(-sandbox.child.pid!, "SIGTERM")
    await ended
  }
  if (isNewUser) execFileSync("userdel", ["--force", user], { stdio: "ignore" })
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
report(
  violations,
  isNewUser ? "as a new user" : "SKIPPED the new user, which needs root and useradd: a clean HOME and PATH instead",
)
