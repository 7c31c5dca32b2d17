import { type ChildProcess, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

const LOG_TAIL_CHARACTERS = 2000

const RESTART_WAIT_MS = 500

/**
 * Runs a service as a child process until interrupted, and logs its output to a file. The service also stops when the sandbox is killed.
 *
 * If it is stopped or killed by a signal, it is restarted. If it exits with an error, this fails with its last output.
 */
export const runService = Effect.fnUntraced(function* (
  name: string,
  options: {
    readonly main: string
    /** A module that is loaded before it. */
    readonly loader?: string
    readonly environment: Readonly<Record<string, string>>
    readonly log: string
    /** Called with a description of each restart. */
    readonly onRestart: (description: string) => void
  },
) {
  const { main, loader, environment, log, onRestart } = options
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const loaders = [import.meta.resolve("#main/exitWithParent"), loader ?? []].flat()
  let ended: string | undefined
  const start = Effect.sync((): ChildProcess => {
    const file = openSync(log, ended === undefined ? "w" : "a", 0o600)
    const args = [...loaders.flatMap((url) => ["--import", url]), fileURLToPath(main)]
    // In its own session, Ctrl-C does not reach the service. The sandbox stops it.
    const child = spawn(process.execPath, args, {
      env: { PATH, NODE_COMPILE_CACHE, ...environment },
      stdio: ["pipe", file, file],
      detached: true,
    })
    closeSync(file)
    child.stdin!.on("error", () => {})
    if (ended !== undefined) onRestart(`${name} ended (${ended}), restarted`)
    return child
  })
  for (;;) {
    const child: ChildProcess = yield* Effect.acquireUseRelease(start, awaitExit, stop)
    if (child.exitCode) {
      const tail = readFileSync(log, "utf8").slice(-LOG_TAIL_CHARACTERS).trimEnd()
      return yield* new SandboxError({ message: `The ${name} has ended. Its last output, in ${log}:\n${tail}` })
    }
    ended = child.signalCode ?? "exit code 0"
    yield* Effect.sleep(RESTART_WAIT_MS)
  }
})

const awaitExit = (child: ChildProcess): Effect.Effect<ChildProcess> =>
  Effect.callback((resume) => {
    const hasExited = child.exitCode !== null || child.signalCode !== null
    if (hasExited) resume(Effect.succeed(child))
    else child.once("exit", () => resume(Effect.succeed(child)))
  })

/** How long a process may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 3000

/** Stops a child process, and waits until it has ended. */
const stop = (child: ChildProcess): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    child.kill("SIGTERM")
    // Has no effect on a process that has ended.
    setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS).unref()
    return awaitExit(child)
  })
