import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import { ProcessLog } from "./ProcessLog.ts"
import type { LogLine } from "./until.ts"

/** Runs a function at the end of a test, or of a file's tests. */
export type AtEnd = (end: () => Promise<void>) => void

/** The setting by which the processes of tests share the compiled modules of the run (`vitest.config.ts`). */
export const compileCache = { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }

/** A process that a test started. */
export class TestProcess extends ProcessLog {
  /** The text of standard error. */
  errors = ""
  readonly child: ChildProcess
  /** Resolves with the exit code when the process has ended and its output was read; null after a signal. */
  readonly ended: Promise<number | null>

  constructor(child: ChildProcess) {
    super()
    this.child = child
    child.stdout!.setEncoding("utf8").on("data", (chunk: string) => this.append(chunk))
    child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
      this.errors += chunk
      this.changes.announce()
    })
    this.ended = once(child, "close").then(([code, signal]) => {
      this.end(`the process ended with ${signal ?? code}: ${this.errors.slice(-2000)}`)
      return code as number | null
    })
  }

  /** Sends a signal to the process if it still runs, and waits for its end. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<number | null> {
    this.child.kill(signal)
    return await this.ended
  }
}

/** Starts a module of this repository as a process with only these settings. It is killed at the end if it still runs. */
export const startProcess = (
  module: string,
  settings: Readonly<Record<string, string>>,
  { args = [], atEnd }: { readonly args?: ReadonlyArray<string>; readonly atEnd?: AtEnd } = {},
): TestProcess =>
  startProgram(process.execPath, [fileURLToPath(module), ...args], { env: { ...compileCache, ...settings } }, atEnd)

/** Starts a program as a process without standard input. It is killed at the end if it still runs. */
export const startProgram = (
  program: string,
  args: ReadonlyArray<string>,
  options: Pick<SpawnOptions, "cwd" | "env" | "uid" | "gid"> = {},
  atEnd: AtEnd = onTestFinished,
): TestProcess => {
  const started = new TestProcess(spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] }))
  atEnd(async () => void (await started.kill()))
  return started
}

/** Returns the address in a log line such as `listening` or `admin port open`. */
export const urlIn = ({ annotations }: LogLine): string =>
  annotations["url"] ?? `http://127.0.0.1:${annotations["port"]}`
