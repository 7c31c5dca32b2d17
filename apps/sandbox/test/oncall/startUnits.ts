import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { constants } from "node:os"
import { createInterface } from "node:readline"
import type { AtEnd } from "@outreach/testing/startProcess"
import { Changes } from "@outreach/testing/until"

/** A process of the service, by unit name. */
export type Unit = "api" | "worker" | "console"

/** Each stage has a separate loopback address, so all use the ports of the page. */
export const API_PORT = 8080
export const ADMIN_PORTS: Readonly<Record<Unit, number>> = { api: 9465, worker: 9464, console: 9466 }

/** A process with less memory can't start. */
const MIN_MEGABYTES = 100
/** `RestartSec` of deploy/systemd/outreach@.service. */
const RESTART_MS = 2000

interface Line {
  readonly at: number
  readonly text: string
}

/** Reads an environment file like systemd, in the simple form used by the pages. */
const readEnvironment = async (path: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await readFile(path, "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  )

/**
 * Runs a process like `deploy/systemd/outreach@.service`: with the variables of its files, restarted two seconds after it ends, until it is stopped.
 */
export const startUnit = (
  name: string,
  options: { readonly program: string; readonly environmentFiles: ReadonlyArray<string>; readonly cwd: string },
  atEnd: AtEnd,
) => {
  const { program, environmentFiles, cwd } = options
  const changes = new Changes()
  const lines: Array<Line> = []
  const note = (text: string) => {
    lines.push({ at: performance.now(), text })
    changes.announce()
  }
  let child: ChildProcess | undefined
  let isWanted = false
  let again: NodeJS.Timeout | undefined
  /** File descriptor for standard output; undefined for this process. */
  let output: number | undefined
  let megabytes = Number.POSITIVE_INFINITY

  const start = async (): Promise<void> => {
    clearTimeout(again)
    if (child !== undefined) return
    isWanted = true
    const variables = await Promise.all(environmentFiles.map(readEnvironment))
    const env = Object.assign({}, ...variables) as Record<string, string>
    const started = spawn(process.execPath, ["--enable-source-maps", program], {
      cwd,
      env,
      stdio: ["ignore", output ?? "pipe", "pipe"],
    })
    child = started
    // As the kernel does when the process exceeds its control group's limit.
    if (megabytes < MIN_MEGABYTES) started.kill("SIGKILL")
    for (const stream of [started.stdout, started.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on("line", note)
    }
    started.once("exit", (code, signal) => {
      note(ended(name, code, signal))
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
  atEnd(() => stop("SIGKILL"))
  return {
    name,
    changes,
    logged: lines,
    start,
    stop,
    restart: async () => {
      await stop()
      await start()
    },
    pid: () => child?.pid,
    /** Redirects standard output to this descriptor from the next start on; without one, to this process. */
    logTo: (descriptor: number | undefined) => {
      output = descriptor
    },
    /** Limits the memory from the next start on, like `systemctl set-property`. */
    setProperty: (property: string) => {
      const [, amount, scale] = /^MemoryMax=(\d+)([MG])$/.exec(property) ?? []
      if (amount === undefined) throw new Error(`${property} is unknown here`)
      megabytes = Number(amount) * (scale === "G" ? 1024 : 1)
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
