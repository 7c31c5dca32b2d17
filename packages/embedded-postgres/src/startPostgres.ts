import { spawn } from "node:child_process"
import { once } from "node:events"
import type { Socket } from "node:net"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"
import type { Answer, Task } from "./keeper.ts"
import { processToken } from "./processToken.ts"

export interface StartOptions {
  /** A folder whose data outlives the server. Without one the cluster is temporary, fast and forgetful. */
  readonly dataDirectory?: string
  /** Whether to drop the data that `dataDirectory` holds. Default false. */
  readonly fresh?: boolean
  /** The port on 127.0.0.1; by default a free one. */
  readonly port?: number
}

/** A PostgreSQL server of this process. */
export interface Postgres {
  /** The superuser's address, password included: treat it as a secret. */
  readonly url: string
  readonly port: number
  /** Stops the server, and removes it if it was temporary. May be called again. */
  readonly stop: () => Promise<void>
}

/**
 * Starts a real PostgreSQL 18, which also ends by itself when this process ends, in whatever way. It does not keep
 * this process alive.
 *
 * @throws an error with the tail of the server's log when it does not start, one that names the holder when
 * `dataDirectory` is in use, and one that points to `DATABASE_URL` on a platform without binaries
 */
export async function startPostgres({ dataDirectory, fresh = false, port }: StartOptions = {}): Promise<Postgres> {
  const parent = (await processToken(process.pid)) ?? ""
  const task: Task = { dataDirectory: dataDirectory && resolve(dataDirectory), fresh, port, parent }
  const keeper = spawn(
    process.execPath,
    [fileURLToPath(new URL("./keeper.ts", import.meta.url)), JSON.stringify(task)],
    {
      // A session of its own: Ctrl-C in the terminal reaches this process, and the keeper through it.
      detached: true,
      cwd: "/",
      env: { PATH: process.env["PATH"], TMPDIR: process.env["TMPDIR"], NODE_NO_WARNINGS: "1" },
      stdio: ["pipe", "pipe", "pipe"],
    },
  )
  let complaint = ""
  keeper.stderr.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(-4096)
  })
  keeper.stdin.on("error", () => {})
  const ended = once(keeper, "close")
  const answer = await firstLine(keeper.stdout)
  if (answer === undefined) throw new Error(`The server's keeper ended without an answer.\n${complaint}`)
  if ("error" in answer) throw new Error(answer.error)

  // This process may end while the keeper runs.
  keeper.unref()
  for (const stream of [keeper.stdin, keeper.stdout, keeper.stderr] as unknown as Socket[]) stream.unref()

  const stop = async () => {
    keeper.ref()
    keeper.stdin.end()
    const [code, signal] = await ended
    if (code === 0) return
    throw new Error(`The server's keeper failed (${signal ?? code}); the next start clears up.\n${complaint}`)
  }
  let stopping: Promise<void> | undefined
  return {
    url: answer.url,
    port: answer.port,
    stop: async () => {
      stopping ??= stop()
      await stopping
    },
  }
}

async function firstLine(output: Readable): Promise<Answer | undefined> {
  for await (const line of createInterface({ input: output })) return JSON.parse(line) as Answer
  return undefined
}
