import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { cp } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { loopbackAddress } from "@outreach/embedded-postgres/loopbackAddress"
import { vi } from "vitest"

type Settings = Readonly<Record<string, string | undefined>>
const EXAMPLES = join(import.meta.dirname, "..")

// What vitest, pnpm and npx set for themselves would change what the frameworks and npm do.
const KEPT = /^(PATH|HOME|TMPDIR|\w+_proxy|npm_config_(registry|cafile)|NODE_EXTRA_CA_CERTS)$/i
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
  NEXT_TELEMETRY_DISABLED: "1",
}

/** Runs a command, and rejects with all that it printed when it fails. */
export async function run(
  folder: string,
  command: readonly [string, ...string[]],
  settings: Settings = {},
): Promise<void> {
  const [program, ...args] = command
  const env = { ...environment, ...settings }
  try {
    await promisify(execFile)(program, args, { cwd: folder, env, maxBuffer: 2 ** 26 })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** Returns why nothing can be installed, and says on standard error that the projects are skipped; undefined when the npm registry answers. */
export async function missingRegistry(folder: string): Promise<string | undefined> {
  try {
    await run(folder, ["npm", "view", "hono", "version", "--prefer-online", "--fetch-retries=1"])
    return undefined
  } catch (error) {
    const missing = "the npm registry is not reachable"
    process.stderr.write(`Skipped, because ${missing}.\n${error}\n`)
    return missing
  }
}

/** Builds a published package and packs it into `dist/partners` of a folder, where the projects find it. */
export async function packTarball(folder: string, name: string): Promise<void> {
  const source = join(EXAMPLES, "../packages", name)
  await run(source, ["pnpm", "build"])
  await run(source, ["pnpm", "pack", "--out", join(folder, `dist/partners/${name}.tgz`)])
}

/** Copies a project of `examples/` into a folder, installs its dependencies there, and returns its path. */
export async function installProject(folder: string, name: string): Promise<string> {
  const project = join(folder, "examples", name)
  await cp(join(EXAMPLES, name), project, { recursive: true, filter: (path) => !NOT_COPIED.test(path) })
  await run(project, ["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"])
  return project
}

const NOT_COPIED = /\/(node_modules|build|dist|\.next|\.react-router|\.svelte-kit|events\.jsonl)$/

/** The server of a project. */
export interface ProjectServer {
  readonly url: string
  readonly stop: () => Promise<void>
  /** Returns what it has printed so far. */
  readonly printed: () => string
}

/** Starts the server of a project as its README says, on a free port, and waits until it listens. */
export async function startServer(project: string, settings: Settings): Promise<ProjectServer> {
  const host = loopbackAddress()
  // A process group of its own, because npm does not hand on signals to what it starts.
  const server = spawn("npm", ["start"], {
    cwd: project,
    env: { ...environment, ...settings, HOST: host, HOSTNAME: host, PORT: "3000" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  const ended = once(server, "close")
  let printed = ""
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text
    })
  }
  const url = `http://${host}:3000`
  const stop = async () => {
    if (server.exitCode === null && server.signalCode === null) process.kill(-server.pid!, "SIGKILL")
    await ended
  }
  const listening = vi.waitFor(() => fetch(url), { timeout: 120_000, interval: 200 })
  if ((await Promise.race([listening.catch(() => null), ended])) instanceof Response)
    return { url, stop, printed: () => printed }
  await stop()
  throw new Error(`npm start does not listen in ${project}:\n${printed}`)
}
