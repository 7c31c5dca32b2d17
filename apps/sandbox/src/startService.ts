import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { fileURLToPath } from "node:url"
import { Clock, Deferred, Effect } from "effect"
import { folderError } from "./folderError.ts"
import { SandboxError } from "./SandboxError.ts"
import { stopProcess } from "./stopProcess.ts"

/** How much of a service's last output is repeated when the sandbox gives up. */
const LOG_TAIL_CHARACTERS = 2000

/** Restarts in a row before the sandbox gives up. */
const MAX_RESTARTS = 5

/** A service that has run this long begins a new row. */
const HEALTHY_MS = 15_000

/** The wait before the first restart of a row; each further one waits twice as long. */
const MIN_RESTART_WAIT_MS = 500

/** A service as the sandbox runs it. */
export interface Service {
  /** Fails when the service cannot be kept running. */
  readonly failed: Effect.Effect<never, SandboxError>
  /** Describes what happened to the service; undefined as long as it has run without interruption. */
  readonly incident: () => string | undefined
}

/**
 * Starts a service as a process of its own, logging to a file, until the scope closes; it also stops when the sandbox is killed.
 *
 * A service that ends is started again, at most five times in a row, after longer and longer waits. One that exits by itself before
 * `isUp` was ever true is not: its settings are wrong.
 */
export const startService = Effect.fnUntraced(function* (
  name: string,
  options: {
    readonly main: string
    readonly environment: Readonly<Record<string, string>>
    readonly log: string
    readonly isUp: () => boolean
  },
) {
  const failed = yield* Deferred.make<never, SandboxError>()
  const fail = (message: string) => Deferred.doneUnsafe(failed, Effect.fail(new SandboxError({ message })))
  let incident: string | undefined
  let tail = ""

  const spawnService = (flags: "w" | "a"): ChildProcess => {
    const child = spawn(
      process.execPath,
      ["--import", import.meta.resolve("./untilParentEnds.ts"), fileURLToPath(options.main)],
      // In a session of its own: Ctrl-C in the terminal reaches the sandbox, which stops it in its turn.
      { env: { PATH: process.env["PATH"], ...options.environment }, stdio: ["pipe", "pipe", "pipe"], detached: true },
    )
    child.stdin!.on("error", () => {})
    const log = createWriteStream(options.log, { flags, mode: 0o600 })
    log.on("error", (error) => fail(folderError(options.log, error) ?? error.message))
    for (const output of [child.stdout!, child.stderr!]) {
      output.setEncoding("utf8")
      output.on("data", (text: string) => {
        tail = (tail + text).slice(-LOG_TAIL_CHARACTERS)
        log.write(text)
      })
    }
    child.once("close", () => log.end())
    return child
  }
  const run = (flags: "w" | "a") =>
    Effect.acquireUseRelease(
      Effect.sync(() => spawnService(flags)),
      (child) =>
        Effect.callback<string>((resume) => {
          child.once("close", (code, signal) => resume(Effect.succeed(signal ?? `exit code ${code}`)))
        }),
      stopProcess,
    )

  const supervise = Effect.gen(function* () {
    let restarts = 0
    for (let inARow = 0; ; restarts++) {
      const startedAt = yield* Clock.currentTimeMillis
      const how = yield* run(restarts === 0 ? "w" : "a")
      const lastOutput = `Its last output, in ${options.log}:\n${tail.trimEnd()}`
      if (!options.isUp() && how.startsWith("exit")) return fail(`The ${name} has ended. ${lastOutput}`)

      if ((yield* Clock.currentTimeMillis) - startedAt >= HEALTHY_MS) inARow = 0
      if (inARow === MAX_RESTARTS) {
        return fail(
          `The ${name} keeps ending: it was restarted ${inARow} times in a row, and ended again (${how}). ${lastOutput}`,
        )
      }
      const waitMs = MIN_RESTART_WAIT_MS * 2 ** inARow++
      incident = `${name} ended (${how}), restarting in ${waitMs / 1000} s`
      yield* Effect.sleep(waitMs)
      incident = `${name} ended (${how}), restarted${restarts > 0 ? ` ${restarts + 1} times in all` : ""}`
    }
  })
  yield* Effect.forkScoped(supervise)
  return { failed: Deferred.await(failed), incident: () => incident } satisfies Service
})
