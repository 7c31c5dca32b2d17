import { spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import type { Socket } from "node:net"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { processToken } from "./processToken.ts"
import { killServer, start, stop as stopServer } from "./server.ts"
import type { StartOptions, SupervisorInput, SupervisorResult } from "./supervisor.ts"

// The module runner of vitest has no `import.meta.resolve`.
const SUPERVISOR = createRequire(import.meta.url).resolve("#main/supervisor")

/** A PostgreSQL server that belongs to this process. */
export interface Postgres {
  /** The superuser's address, password included: treat it as a secret. */
  readonly url: string
  readonly port: number
  readonly dataDirectory: string
  /** Kills all processes of the server at once, as if its host were lost. `stop` then removes the rest. */
  readonly kill: () => Promise<void>
  /** Starts the server again at its port after it was killed. Stops it first if it runs. */
  readonly restart: () => Promise<void>
  /** Stops the server, and removes it if it is temporary. May be called again. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a PostgreSQL 18 server, which stops when this process ends for any reason. It does not keep this process alive.
 *
 * @throws an error with the tail of the server's log if the server does not start; an error that names the other process
 * if `dataDirectory` is in use; an error that points to `DATABASE_URL` on a platform without binaries
 */
export async function startPostgres(options: StartOptions = {}): Promise<Postgres> {
  const { dataDirectory, environment = {} } = options
  const input: SupervisorInput = {
    ...options,
    ...(dataDirectory !== undefined && { dataDirectory: resolve(dataDirectory) }),
    parent: (await processToken(process.pid)) ?? "",
  }
  const supervisor = spawn(process.execPath, [SUPERVISOR, JSON.stringify(input)], {
    // In its own session, Ctrl-C does not reach the supervisor, which stops when this process ends.
    detached: true,
    cwd: "/",
    env: { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], NODE_NO_WARNINGS: "1" },
    stdio: ["pipe", "pipe", "pipe"],
  })
  let stderrTail = ""
  supervisor.stderr.on("data", (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk).slice(-4096)
  })
  supervisor.stdin.on("error", () => {})
  const ended = once(supervisor, "close")
  const result = await readResult(supervisor.stdout)
  if (result === undefined) throw new Error(`The PostgreSQL supervisor ended without a result.\n${stderrTail}`)
  if ("error" in result) throw new Error(result.error)

  // The supervisor must not keep this process alive.
  supervisor.unref()
  for (const stream of [supervisor.stdin, supervisor.stdout, supervisor.stderr] as unknown as Socket[]) stream.unref()

  const stop = async () => {
    supervisor.ref()
    supervisor.stdin.end()
    const [code, signal] = await ended
    if (code === 0) return
    throw new Error(`The PostgreSQL supervisor failed (${signal ?? code}); the next start cleans up.\n${stderrTail}`)
  }
  let stopping: Promise<void> | undefined
  return {
    url: result.url,
    port: result.port,
    dataDirectory: result.data,
    kill: () => killServer(result.data),
    restart: async () => {
      const server = { data: result.data, environment }
      await stopServer(server, "fast")
      await start(server, undefined)
    },
    stop: () => (stopping ??= stop()),
  }
}

async function readResult(output: Readable): Promise<SupervisorResult | undefined> {
  for await (const line of createInterface({ input: output })) return JSON.parse(line) as SupervisorResult
  return undefined
}
