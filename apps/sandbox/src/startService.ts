import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { readFile } from "node:fs/promises"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Deferred, Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** How long a service may take to stop before it is killed. */
const STOP_MS = 3000

/**
 * Starts a service as a process of its own, logging to a file, until the scope closes; it also stops when the sandbox is killed.
 *
 * Waits until it logs `ready`. Answers `ended`, which fails with the service's last words when it ends by itself.
 */
export const startService = Effect.fnUntraced(function* (
  name: string,
  options: {
    readonly main: string
    readonly environment: Readonly<Record<string, string>>
    readonly log: string
    /** The message of the log line that says that the service is ready. */
    readonly ready: string
  },
) {
  const ready = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<never, SandboxError>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(
        process.execPath,
        ["--import", import.meta.resolve("./untilParentEnds.ts"), fileURLToPath(options.main)],
        { env: { PATH: process.env["PATH"], ...options.environment }, stdio: ["pipe", "pipe", "pipe"] },
      )
      child.stdin.on("error", () => {})
      const log = createWriteStream(options.log, { mode: 0o600 })
      child.stderr.pipe(log, { end: false })
      child.stdout.pipe(log, { end: false })
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.includes(`"message":"${options.ready}"`)) Deferred.doneUnsafe(ready, Effect.void)
      })
      child.once("close", () => {
        log.end(async () => {
          const words = (await readFile(options.log, "utf8").catch(() => "")).trimEnd().split("\n").slice(-5)
          const message = `The ${name} has ended. Its last words, in ${options.log}:\n${words.join("\n")}`
          Deferred.doneUnsafe(ended, Effect.fail(new SandboxError({ message })))
        })
      })
      return child
    }),
    stop,
  )
  yield* Effect.raceFirst(Deferred.await(ready), Deferred.await(ended))
  return { ended: Deferred.await(ended) }
})

const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.kill("SIGTERM")
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS)
    child.once("exit", () => clearTimeout(timer))
  })
