import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream } from "node:fs"
import { fileURLToPath } from "node:url"
import { Clock, Deferred, Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

const LOG_TAIL_CHARACTERS = 2000

/** The maximum of consecutive restarts before the sandbox gives up. */
const MAX_RESTARTS = 5

/** The restart count starts anew after a service has run this long. */
const HEALTHY_MS = 15_000

/** The wait before the first restart. Each further wait is twice as long. */
const MIN_RESTART_WAIT_MS = 500

/**
 * Runs a service as a child process until the scope closes, and logs its output to a file. The service also stops when the sandbox is killed.
 *
 * A service that ends is restarted, at most five times in a row, with exponential backoff. If it exits before `isUp` was ever true, its
 * settings are wrong, and it is not restarted.
 */
export const startService = Effect.fnUntraced(function* (
  name: string,
  options: {
    readonly main: string
    /** A module that is loaded before it. */
    readonly loader?: string
    readonly environment: Readonly<Record<string, string>>
    readonly log: string
    readonly isUp: () => boolean
  },
) {
  const failed = yield* Deferred.make<never, SandboxError>()
  const fail = (message: string) => Deferred.doneUnsafe(failed, Effect.fail(new SandboxError({ message })))
  let incident: string | undefined
  let tail = ""

  const { PATH, NODE_COMPILE_CACHE } = process.env
  const spawnService = (flags: "w" | "a"): ChildProcess => {
    const child = spawn(
      process.execPath,
      [
        ...[import.meta.resolve("./exitWithParent.ts"), options.loader ?? []]
          .flat()
          .flatMap((url) => ["--import", url]),
        fileURLToPath(options.main),
      ],
      // In its own session, Ctrl-C does not reach the service. The sandbox stops it.
      { env: { PATH, NODE_COMPILE_CACHE, ...options.environment }, stdio: ["pipe", "pipe", "pipe"], detached: true },
    )
    child.stdin!.on("error", () => {})
    const log = createWriteStream(options.log, { flags, mode: 0o600 })
    log.on("error", ({ message }) => fail(message))
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
    for (let consecutive = 0; ; restarts++) {
      const startedAt = yield* Clock.currentTimeMillis
      const reason = yield* run(restarts === 0 ? "w" : "a")
      const lastOutput = `Its last output, in ${options.log}:\n${tail.trimEnd()}`
      if (!options.isUp() && reason.startsWith("exit")) return fail(`The ${name} has ended. ${lastOutput}`)

      if ((yield* Clock.currentTimeMillis) - startedAt >= HEALTHY_MS) consecutive = 0
      if (consecutive === MAX_RESTARTS) {
        return fail(
          `The ${name} keeps ending: it was restarted ${consecutive} times in a row, and ended again (${reason}). ${lastOutput}`,
        )
      }
      const waitMs = MIN_RESTART_WAIT_MS * 2 ** consecutive++
      incident = `${name} ended (${reason}), restarting in ${waitMs / 1000} s`
      yield* Effect.sleep(waitMs)
      incident = `${name} ended (${reason}), restarted${restarts > 0 ? ` ${restarts + 1} times in all` : ""}`
    }
  })
  yield* Effect.forkScoped(supervise)
  return {
    /** Fails when the sandbox gives the service up. */
    failed: Deferred.await(failed),
    /** Describes the service's last failure; undefined if it never failed. */
    incident: () => incident,
  }
})

/** How long a process may take to stop before it is killed. */
const STOP_TIMEOUT_MS = 3000

/** Stops a child process, and waits until it has ended. */
const stopProcess = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS)
    child.once("exit", () => {
      clearTimeout(timer)
      resume(Effect.void)
    })
    child.kill("SIGTERM")
  })
