import { execFile, spawn } from "node:child_process"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { TestProcess } from "@outreach/testing/startProcess"
import { afterAll, beforeAll, beforeEach, vi } from "vitest"

type Settings = Readonly<Record<string, string | undefined>>
const EXAMPLES = join(import.meta.dirname, "..")

// Variables of vitest, pnpm and npx would change the behavior of the frameworks and of npm.
const KEPT = /^(PATH|HOME|TMPDIR|\w+_proxy|npm_config_(registry|cafile)|NODE_EXTRA_CA_CERTS)$/i
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => KEPT.test(name))),
  NEXT_TELEMETRY_DISABLED: "1",
}

/** Runs a command and returns its standard output. Rejects with its whole output if it fails. */
export async function run(
  folder: string,
  command: readonly [string, ...string[]],
  settings: Settings = {},
): Promise<string> {
  const [program, ...args] = command
  const env = { ...environment, ...settings }
  try {
    return (await promisify(execFile)(program, args, { cwd: folder, env, maxBuffer: 2 ** 26 })).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${command.join(" ")} failed:\n${stdout}${stderr}`, { cause: error })
  }
}

/** A folder outside the repository. */
export interface Workspace {
  readonly path: string
  /** Reason why installation isn't possible; undefined if the npm registry responds. */
  readonly missing: string | undefined
}

/**
 * Creates a folder with the tarballs of published packages for the projects of a test file.
 *
 * Skips the tests if the npm registry isn't reachable.
 */
export function workspaceWith(...packageNames: readonly string[]): Workspace {
  const workspace: { path: string; missing: string | undefined } = { path: "", missing: undefined }
  beforeAll(async () => {
    workspace.path = await mkdtemp(join(tmpdir(), "outreach-example-"))
    try {
      await run(workspace.path, ["npm", "view", "hono", "version", "--prefer-online", "--fetch-retries=1"])
    } catch (error) {
      workspace.missing = "the npm registry is not reachable"
      process.stderr.write(`Skipped, because ${workspace.missing}.\n${error}\n`)
      return
    }
    for (const name of packageNames) {
      const source = join(EXAMPLES, "../packages", name)
      await run(source, ["pnpm", "build"])
      await run(source, ["pnpm", "pack", "--out", join(workspace.path, `dist/partners/${name}.tgz`)])
    }
  })
  afterAll(() => rm(workspace.path, { recursive: true, force: true, maxRetries: 10 }))
  beforeEach(({ skip }) => {
    if (workspace.missing !== undefined) skip(workspace.missing)
  })
  return workspace
}

const NOT_COPIED = /\/(node_modules|build|dist|\.next|\.react-router|\.svelte-kit|events\.jsonl)$/

/**
 * Installs a project of `examples/` for the tests of a file, and runs its server on a loopback address, with the settings returned by `prepare`.
 *
 * `args` returns arguments for a server that doesn't read its address from `HOST`.
 */
export function projectServer(
  workspace: Workspace,
  name: string,
  {
    prepare = async () => ({}),
    args = () => [],
  }: {
    readonly prepare?: (project: string) => Promise<Settings>
    readonly args?: (host: string) => readonly string[]
  } = {},
) {
  const host = loopbackAddress()
  const url = `http://${host}:3000`
  let project = ""
  let settings: Settings = {}
  let server: TestProcess | undefined
  const start = async () => {
    // A separate process group, because npm doesn't forward signals.
    const started = new TestProcess(
      spawn("npm", ["start", "--", ...args(host)], {
        cwd: project,
        env: { ...environment, ...settings, HOST: host, PORT: "3000" },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      }),
    )
    server = started
    const listening = vi.waitFor(() => fetch(url), { timeout: 120_000, interval: 200 })
    const ended = started.ended.then(() => {
      throw new Error(`npm start ended in ${project}:\n${started.text}${started.errors}`)
    })
    ended.catch(() => {})
    await Promise.race([listening, ended])
  }
  const stop = async () => {
    if (server?.child.exitCode !== null || server.child.signalCode !== null) return
    process.kill(-server.child.pid!, "SIGKILL")
    await server.ended
  }
  beforeAll(async () => {
    if (workspace.missing !== undefined) return
    project = join(workspace.path, "examples", name)
    await cp(join(EXAMPLES, name), project, { recursive: true, filter: (path) => !NOT_COPIED.test(path) })
    await run(project, ["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund"])
    settings = await prepare(project)
    await start()
  })
  afterAll(stop)
  return {
    get project() {
      return project
    },
    url,
    printed: () => `${server?.text}${server?.errors}`,
    restart: async () => {
      await stop()
      await start()
    },
  }
}
