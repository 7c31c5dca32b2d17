import { NodeRuntime } from "@effect/platform-node"
import { Cause, type Config, Effect, Exit, Runtime } from "effect"

/**
 * Runs a process until it ends or is told to stop by SIGINT or SIGTERM, which is no failure: it closes what it holds and exits with 0.
 *
 * A setting that is missing or malformed stops it at once with the sentence that names it and exit code 1.
 */
export const runProcess = <A, E>(main: Effect.Effect<A, E>): void =>
  main.pipe(
    Effect.catchCause((cause) => {
      const refusal = cause.reasons.find((reason) => Cause.isFailReason(reason) && isConfigError(reason.error))
      if (refusal === undefined) return Effect.failCause(cause)
      return Effect.sync(() => {
        process.stderr.write(`${((refusal as Cause.Fail<Config.ConfigError>).error.cause as Error).message}\n`)
        process.exitCode = 1
      })
    }),
    NodeRuntime.runMain({
      teardown: (exit, onExit) =>
        Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit),
    }),
  )

const isConfigError = (error: unknown): error is Config.ConfigError =>
  typeof error === "object" && error !== null && (error as { _tag?: unknown })._tag === "ConfigError"
