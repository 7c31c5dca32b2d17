/**
 * Follows the quick start of every published package in empty folders: with the tarballs of `pnpm package:partners`, and by name from a
 * local registry after a rehearsal of the release: versions, repository, `changeset publish`. The sandbox starts only from the registry, as another user
 * if this one is root, with Debian's Node.
 *
 * Unlike the release, it publishes without provenance, which needs the workflow's token, and creates no git tag.
 */
import { execFile, execFileSync, spawn, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join, relative } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { promisify } from "node:util"
import { loopbackAddress } from "@outreach/embedded-postgres/loopbackAddress"
import { copyRepository } from "./copyRepository.ts"
import { publishedLibraries, publishedPackages, root } from "./publishedPackages.ts"
import { report } from "./report.ts"

const INSTALL = /^```sh\n(npm install @outreach\/[^\n]+)\n```$/m
const INSTALL_TARBALLS = /`(npm install <clone>\/dist\/partners\/[^`]+)`/
const FENCE = /^```ts\b.*\n([\s\S]*?)^```$/gm
const REPOSITORY = "example/outreach-partner-api"
/** A consumer of the client, checked without the contract and zod. */
const TYPED = `import { createClient, type FeedEvent } from "@outreach/client"
const client = createClient({ apiKey: "key", baseUrl: "https://api.example.com" })
export const type: FeedEvent["event_type"] = "outreach.email_sent"
// @ts-expect-error There is no such type of event.
export const wrong: FeedEvent["event_type"] = "outreach.email_lost"
export const emails = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const record of client.listTokens({ since: "2026-01-01T00:00:00Z", expand: ["campaign"] })) found.push(record.email)
  return found
}
// @ts-expect-error Only these resources can be expanded.
client.getToken("aB3xY9", { expand: ["recipients"] })
`

const violations: string[] = []
const packages = publishedPackages()
const libraries = publishedLibraries()
const tempDir = mkdtempSync(join(tmpdir(), "outreach-quick-starts-"))
const clone = join(tempDir, "clone")
const home = join(tempDir, "home")
const bin = (name: string): string => join(root, "node_modules/.bin", name)
// Settings that npx passes to this script would hide those of this home.
const inherited = Object.entries(process.env).filter(([name]) => !/^p?npm_/i.test(name))
const env: NodeJS.ProcessEnv = {
  ...Object.fromEntries(inherited),
  HOME: home,
  npm_config_cache: join(home, "cache"),
  npm_config_update_notifier: "false",
}

/** Runs a command, and returns its output. If it fails, adds a violation with `title` and returns null. */
async function attempt(title: string, command: string, args: readonly string[], cwd: string): Promise<string | null> {
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, env, timeout: 180_000 })
    return stdout + stderr
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string }
    violations.push(`${title}:\n${stdout}${stderr || message}`)
    return null
  }
}

/** Reads a setting of npm on this machine. */
const npmSetting = async (name: string): Promise<string> =>
  (await promisify(execFile)("npm", ["config", "get", name])).stdout.trim()

/** Starts a registry with only our packages, which takes all others from npm's. Returns its URL. */
async function startRegistry(): Promise<string> {
  const [uplink, authorities] = await Promise.all(["registry", "cafile"].map(npmSetting))
  const address = `${loopbackAddress()}:4873`
  const config = {
    storage: join(tempDir, "storage"),
    auth: { htpasswd: { file: join(tempDir, "htpasswd") } },
    uplinks: { npm: { url: uplink } },
    packages: { "@outreach/*": { access: "$all", publish: "$authenticated" }, "**": { access: "$all", proxy: "npm" } },
    log: { type: "stdout", format: "pretty", level: "warn" },
  }
  writeFileSync(join(tempDir, "verdaccio.yaml"), JSON.stringify(config))
  const main = join(dirname(import.meta.dirname), "tools/node_modules/verdaccio/bin/verdaccio")
  const args = [main, "--config", join(tempDir, "verdaccio.yaml"), "--listen", address]
  // The registry doesn't read npm's own setting.
  const trusting = authorities === "null" ? env : { NODE_EXTRA_CA_CERTS: authorities, ...env }
  registry = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"], env: trusting })
  const url = `http://${address}/`
  while (
    !(await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (registry.exitCode !== null) throw new Error("the registry ended")
    await wait(100)
  }
  const user = { name: "release", password: "a password of this rehearsal", type: "user" }
  const response = await fetch(`${url}-/user/org.couchdb.user:release`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(user),
  })
  const { token } = (await response.json()) as { token: string }
  writeFileSync(join(home, ".npmrc"), `registry=${url}\n//${new URL(url).host}/:_authToken=${token}\n`)
  return url
}

/** Installs in an empty folder and runs each `ts` fence of the README there. Returns the folder. */
async function follow(name: string, install: string, readme: string, from: string): Promise<string> {
  const folder = join(tempDir, `${basename(name)}-from-${from}`)
  mkdirSync(folder)
  await attempt(
    `${name} from ${from}: ${install} fails`,
    "bash",
    ["-c", `npm init -y && ${install} --no-audit --no-fund`],
    folder,
  )
  for (const [i, [, code = ""]] of [...readme.matchAll(FENCE)].entries()) {
    writeFileSync(join(folder, `fence${i + 1}.mts`), code)
    const title = `${name} from ${from}: ts fence ${i + 1} of the README does not run`
    await attempt(title, process.execPath, [`fence${i + 1}.mts`], folder)
  }
  return folder
}

async function followAll(from: "tarballs" | "registry"): Promise<ReadonlyMap<string, string>> {
  const folders = libraries.map(async ({ name, folder }) => {
    const readme = readFileSync(join(folder, "README.md"), "utf8")
    const install = (from === "tarballs" ? INSTALL_TARBALLS : INSTALL).exec(readme)?.[1]
    if (install === undefined) {
      violations.push(`${name}: its README does not say how to install it from ${from}`)
      return [name, folder] as const
    }
    return [name, await follow(name, install.replaceAll("<clone>", clone), readme, from)] as const
  })
  return new Map(await Promise.all(folders))
}

/**
 * Starts the sandbox in an empty folder and runs the commands that it prints. Terminates npm, which must leave no process, and starts the sandbox again
 * without the registry. If Node is too old, uses the command that the sandbox names then.
 */
async function followSandbox(url: string): Promise<void> {
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const home = join(tempDir, "newcomer")
  const folder = join(home, "an empty folder")
  mkdirSync(folder, { recursive: true })
  execFileSync("chmod", ["755", tempDir])
  if ("uid" in user) execFileSync("chown", ["-R", `${user.uid}:${user.gid}`, home])
  const path = process.env["PATH"]!.split(delimiter).filter((it) => !("uid" in user && it.startsWith("/root")))
  const settings = { npm_config_registry: url, npm_config_update_notifier: "false", npm_config_fetch_retries: "0" }
  const options = {
    ...user,
    cwd: folder,
    env: { ...Object.fromEntries(inherited), HOME: home, PATH: path.join(delimiter), ...settings },
  }
  const host = loopbackAddress()
  let npx = "npx -y @outreach/sandbox"
  const run = (line: string) => {
    const named = line.replace("npx @outreach/sandbox", npx).replace("npx ", "npx -y ")
    const { status, stdout, stderr } = spawnSync("bash", ["-c", named], { ...options, encoding: "utf8" })
    return { status, output: stdout + stderr }
  }
  const withNewNode = / Run: npx (.+) --version$/m.exec(run(`${npx} --version`).output)?.[1]
  if (withNewNode !== undefined) npx = `npx -y ${withNewNode}`
  const { version } = JSON.parse(readFileSync(join(clone, "packages/sandbox/package.json"), "utf8")) as {
    version: string
  }
  const reported = run(`${npx} --version`).output
  if (!reported.includes(version)) violations.push(`the sandbox ${version} reports ${reported}`)

  const processes = () =>
    execFileSync("ps", ["-ewwo", "args"], { encoding: "utf8" })
      .split("\n")
      .filter((line) => line.includes(home))
  const startAndStop = async (whileItRuns: (output: string) => void): Promise<void> => {
    const sandbox = spawn("bash", ["-c", `exec ${npx} --host ${host}`], {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
    })
    let output = ""
    for (const stream of [sandbox.stdout, sandbox.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
    const hasEnded = () => sandbox.exitCode !== null || sandbox.signalCode !== null
    while (!/^From now on /m.test(output) && !hasEnded()) await wait(200)
    if (!hasEnded()) whileItRuns(output)
    else violations.push(`${npx} ended:\n${output}`)
    sandbox.kill()
    for (let i = 0; i < 300 && processes().length > 0; i++) await wait(200)
    if (processes().length > 0) violations.push(`SIGTERM to npm leaves processes:\n${processes().join("\n")}`)
  }
  await startAndStop((output) => {
    const printed = [...output.matchAll(/^ {2}((?:npx|curl) .+)$/gm)].map(([, line = ""]) => line)
    if (printed.length !== 5) violations.push(`The sandbox prints ${printed.length} commands:\n${output}`)
    for (const line of printed) {
      const { status, output } = run(line)
      if (status !== 0 || /"error"/.test(output))
        violations.push(`This fails for a newcomer with ${status}:\n${line}\n${output}`)
    }
  })
  registry?.kill()
  await startAndStop((output) => {
    if (!output.includes("This continues an earlier run"))
      violations.push(`The second start has other data:\n${output}`)
  })
}

let registry: ReturnType<typeof spawn> | undefined
try {
  mkdirSync(home)
  copyRepository(clone)
  await attempt("git does not take the copy", "git", ["add", "-A"], clone)
  const author = ["-c", "user.name=x", "-c", "user.email=x@x.test"]
  await attempt("git does not take the copy", "git", [...author, "commit", "-qm", "x"], clone)
  const [url] = await Promise.all([
    startRegistry(),
    attempt("pnpm package:partners fails", process.execPath, ["tools/packPartners.ts"], clone),
  ])
  await followAll("tarballs")

  env["GITHUB_REPOSITORY"] = REPOSITORY
  await attempt("the versions cannot be made", bin("changeset"), ["version"], clone)
  // The sandbox reports its version.
  const build = ["--config", "../../tools/sandbox.tsup.config.ts"]
  await attempt("the sandbox cannot be built", bin("tsup"), build, join(clone, "packages/sandbox"))
  const published = await attempt("changeset publish fails", bin("changeset"), ["publish", "--no-git-tag"], clone)
  for (const { name, folder } of packages) {
    const manifest = (await (await fetch(`${url}${name}/latest`)).json()) as { version?: string; repository?: object }
    const directory = relative(root, folder)
    const repository = { type: "git", url: `git+https://github.com/${REPOSITORY}.git`, directory }
    if (manifest.version === undefined || manifest.version === "0.0.0")
      violations.push(`${name} was not published:\n${published}`)
    else if (JSON.stringify(manifest.repository) !== JSON.stringify(repository))
      violations.push(`${name} names the repository ${JSON.stringify(manifest.repository)}`)
  }
  const folders = await followAll("registry")

  const client = folders.get("@outreach/client")!
  for (const unneeded of ["zod", "@outreach/contract"]) {
    if (existsSync(join(client, "node_modules", unneeded))) violations.push(`${unneeded} is installed with the client`)
  }
  writeFileSync(join(client, "typed.ts"), TYPED)
  const strict = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "", "typed.ts"]
  await attempt("a consumer of the client alone does not type-check", bin("tsc"), strict, client)
  const verifier = folders.get("@outreach/webhook-verifier")!
  const help = await attempt(
    "the command does not run",
    "npx",
    ["--no", "--", "@outreach/webhook-verifier", "--help"],
    verifier,
  )
  if (help !== null && !help.includes("listen --forward")) violations.push(`the command prints ${help}`)
  await followSandbox(url)
} finally {
  registry?.kill()
  rmSync(tempDir, { recursive: true, force: true, maxRetries: 10 })
}
report(violations, `${packages.length} packages`)
