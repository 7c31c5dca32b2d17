import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, type Config, Effect, Exit, Runtime } from "effect"

/**
 * Runs a process until it ends or receives SIGINT or SIGTERM. On a signal it closes its resources and exits with 0.
 *
 * If a setting is missing or malformed, the process prints the sentence that names it and exits with 1.
 */
export const runProcess = <A, E>(main: Effect.Effect<A, E>): void =>
  main.pipe(
    Effect.catchCause((cause) => {
      const invalidSetting = cause.reasons.find((reason) => Cause.isFailReason(reason) && isConfigError(reason.error))
      if (invalidSetting === undefined) return Effect.failCause(cause)
      return Effect.sync(() => {
        process.stderr.write(`${((invalidSetting as Cause.Fail<Config.ConfigError>).error.cause as Error).message}\n`)
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
