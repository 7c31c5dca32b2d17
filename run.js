// Runs a program of this repository with a suitable Node and pnpm, after installing its dependencies. Plain JavaScript without dependencies,
// so that npm with Node 20 can start it.
import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import * as module from "node:module"
import { delimiter, dirname, join, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = dirname(fileURLToPath(import.meta.url))
const { engines, packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const minNode = engines.node.replace(">=", "")
const pnpmMajor = packageManager.match(/^pnpm@(\d+)/)[1]
const TOOLS = ["node@24", `pnpm@${pnpmMajor}`]
/** Contains the folder of the tools, once the dependencies are installed. */
const KNOWN = join(root, "node_modules/.cache/tools.txt")
/** Passes the folder of the tools to the started program, so that it doesn't search for them again. */
const MARK = "OUTREACH_TOOLS_FOUND"
// Then pnpm has finished the installation.
const isScriptOfPnpm = process.env.npm_config_user_agent?.startsWith("pnpm/") ?? false
const [, , file, ...args] = process.argv

function isNodeNewEnough() {
  const [major, minor] = process.versions.node.split(".").map(Number)
  const [minMajor, minMinor] = minNode.split(".").map(Number)
  return major > minMajor || (major === minMajor && minor >= minMinor)
}

function hasPnpm() {
  if (isScriptOfPnpm) return true
  try {
    const options = { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }
    return execFileSync("pnpm", ["--version"], options).startsWith(`${pnpmMajor}.`)
  } catch {
    return false
  }
}

/** Returns the folder with the tools. npx downloads them the first time; afterwards neither npx nor a network is needed. */
function findTools() {
  const earlier = existsSync(KNOWN) ? readFileSync(KNOWN, "utf8") : ""
  if (existsSync(join(earlier, "pnpm")) && existsSync(join(earlier, "node"))) return earlier
  // Settings of an outer npx or npm don't apply to this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_(?!config_(registry|cache|cafile|https?_proxy)$)/i.test(name),
    ),
  )
  const names = TOOLS.flatMap((tool) => ["-p", tool])
  const command = ["-y", "--prefer-offline", ...names, "node", "-p", "process.env.PATH"]
  const path = execFileSync("npx", command, { cwd: root, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
  const folder = path.split(delimiter).find((it) => existsSync(join(it, "pnpm")) && existsSync(join(it, "node")))
  if (folder === undefined) throw new Error("npx has other tools")
  return folder
}

/** Runs this program again with the tools on its PATH. Forwards signals, and exits with its code. */
function runWithTools(folder) {
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, [MARK]: folder }
  const child = spawn(join(folder, "node"), [join(root, "run.js"), file, ...args], { env, stdio: "inherit" })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    // A terminal sends Ctrl-C to both.
    process.on(signal, () => (signal === "SIGINT" && process.stdin.isTTY) || child.kill(signal))
  }
  child.on("error", (error) => fail(`${TOOLS[0]} does not start: ${error.message}`))
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/**
 * The sandbox's dependencies, without those of tests, types and tools: a fifth of all. pnpm checks the age of the releases in the lockfile only in whole
 * installations, such as in CI, because it would download 240 MB of metadata.
 */
const OF_SANDBOX = ["--prod", "--trust-lockfile", "--filter-prod", "@outreach/sandbox-app..."]
/** Written after installing them. pnpm's own file shows a whole installation. */
const SANDBOX_INSTALLED = "node_modules/.cache/sandbox-installed"
const PNPM_STATE = "node_modules/.pnpm-workspace-state-v1.json"

const changedAt = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
const isUpToDate = (path) => changedAt(path) > changedAt("pnpm-lock.yaml")

/**
 * Installs the program's dependencies in a fresh clone, after a change of the lockfile and after an interruption. It never removes dependencies: a whole
 * installation stays whole, regardless of the program. pnpm's output doesn't mix with the program's.
 */
function install() {
  if (isScriptOfPnpm) return
  const { filteredInstall, settings } = changedAt(PNPM_STATE) ? JSON.parse(readFileSync(join(root, PNPM_STATE))) : {}
  const hadAll = filteredInstall === false && settings.dev === true
  const needsAll = hadAll || !/^(apps|packages)\/[\w-]+\/src\//.test(file)
  if (hadAll ? isUpToDate(PNPM_STATE) : !needsAll && isUpToDate(SANDBOX_INSTALLED)) return
  const args = ["install", "--prefer-offline", ...(needsAll ? [] : OF_SANDBOX)]
  execFileSync("pnpm", args, { cwd: root, stdio: ["ignore", 2, 2] })
  if (needsAll) return
  // Without it, a pnpm script first installs the rest. With it, pnpm would treat this as a full installation.
  rmSync(join(root, PNPM_STATE), { force: true })
  remember(join(root, SANDBOX_INSTALLED), "")
}

function remember(path, text) {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`)
  process.exitCode = 1
}

if (file === undefined) {
  fail("Say what to run: node run.js apps/sandbox/src/main.ts")
} else if (process.env[MARK] === undefined && !(isNodeNewEnough() && hasPnpm())) {
  let folder
  try {
    folder = findTools()
  } catch {
    fail(
      `This needs Node ${minNode} or later and pnpm ${pnpmMajor}, and npx could not fetch them: see above. It runs on Node ${process.versions.node}.`,
    )
  }
  if (folder !== undefined) runWithTools(folder)
} else if (process.features.typescript === false) {
  fail("This runs TypeScript, which --no-strip-types forbids here: remove it, from NODE_OPTIONS for one.")
} else {
  let isInstalled = true
  try {
    install()
  } catch {
    isInstalled = false
    fail("The dependencies could not be installed: see above.")
  }
  if (isInstalled) {
    const folder = process.env[MARK]
    if (folder !== undefined) remember(KNOWN, folder)
    const main = resolve(root, file)
    process.argv = [process.execPath, main, ...args]
    // A short command needs a tenth less CPU time if its first file is already compiled.
    module.enableCompileCache(join(root, "node_modules/.cache/node"))
    await import(pathToFileURL(main).href)
  }
}
