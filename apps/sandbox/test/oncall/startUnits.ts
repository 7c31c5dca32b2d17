import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { constants } from "node:os"
import { createInterface } from "node:readline"
import type { AtEnd } from "../failover/startCluster.ts"

/** `RestartSec` of deploy/systemd/outreach@.service. */
const RESTART_MS = 2000

export interface Line {
  readonly at: number
  readonly text: string
}

/** How a unit is started: `stdio` is where it logs, and `joined` is told the id of each process. */
export interface UnitOptions {
  readonly command: () => readonly [string, ...ReadonlyArray<string>]
  readonly environmentFiles: ReadonlyArray<string>
  readonly cwd: string
}

/** Reads a file of environment variables as systemd does, in the simple form that the pages have. */
const readEnvironment = async (path: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readFile(path, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  )

/**
 * Runs a process as `deploy/systemd/outreach@.service` says: with the variables of its files, started again two seconds after it has ended, until it is stopped.
 */
export const startUnit = (name: string, { command, environmentFiles, cwd }: UnitOptions, atEnd: AtEnd) => {
  const lines: Array<Line> = []
  let child: ChildProcess | undefined
  let isWanted = false
  let again: NodeJS.Timeout | undefined
  /** Where standard output goes instead of to this process. */
  let output: number | undefined
  let joined: (pid: number) => void = () => {}

  const start = async (): Promise<void> => {
    clearTimeout(again)
    if (child !== undefined) return
    isWanted = true
    const variables = await Promise.all(environmentFiles.map(readEnvironment))
    const env = Object.assign({}, ...variables) as Record<string, string>
    const [program, ...args] = command()
    const started = spawn(program, args, { cwd, env, stdio: ["ignore", output ?? "pipe", "pipe"] })
    child = started
    if (started.pid !== undefined) joined(started.pid)
    for (const stream of [started.stdout, started.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on("line", (text) => lines.push({ at: performance.now(), text }))
    }
    started.once("exit", (code, signal) => {
      lines.push({ at: performance.now(), text: ended(name, code, signal) })
      child = undefined
      if (isWanted) again = setTimeout(start, RESTART_MS)
    })
  }
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    isWanted = false
    clearTimeout(again)
    if (child === undefined) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }
  const killNow = () => child?.kill("SIGKILL")
  process.prependOnceListener("exit", killNow)
  atEnd(async () => {
    process.off("exit", killNow)
    await stop("SIGKILL")
  })
  return {
    name,
    lines,
    start,
    stop,
    restart: async () => {
      await stop()
      await start()
    },
    /** The process, while it runs. */
    pid: () => child?.pid,
    /** Lets standard output go to this descriptor from the next start on; to this process without one. */
    logTo: (descriptor: number | undefined) => {
      output = descriptor
    },
    /** Calls back with the id of this process and of each later one. */
    onJoin: (join: (pid: number) => void) => {
      joined = join
      if (child?.pid !== undefined) join(child.pid)
    },
  }
}

/** The line that systemd writes to the journal. */
const ended = (name: string, code: number | null, signal: NodeJS.Signals | null): string => {
  const reason =
    signal === null
      ? `code=exited, status=${code}`
      : `code=killed, status=${constants.signals[signal]}/${signal.slice("SIG".length)}`
  return `outreach@${name}.service: Main process exited, ${reason}`
}

export type StartedUnit = ReturnType<typeof startUnit>
