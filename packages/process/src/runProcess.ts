import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Config, Effect, Exit, Runtime } from "effect"
import { boundedLog } from "./boundedLog.ts"
import { ListenError } from "./ListenError.ts"
import { stopOnHangUp } from "./stopOnHangUp.ts"
import { telemetry } from "./telemetry.ts"

/** Runs a service until a signal, and logs when it starts to stop and when it has stopped. */
export const runService = <E>(serviceName: string, service: Effect.Effect<unknown, E>): void =>
  runProcess(
    Effect.raceFirst(
      Effect.onInterrupt(Effect.never, () => Effect.logInfo("stopping")),
      service,
    ).pipe(
      Effect.onInterrupt(() => Effect.logInfo("stopped")),
      boundedLog,
      Effect.provide(telemetry(serviceName)),
    ),
  )

/**
 * Runs a process until it ends or receives SIGINT, SIGTERM or SIGHUP. After a signal it releases its resources and exits with 0.
 *
 * For a missing or invalid setting, or a port in use, prints the error message and exits with 1.
 */
export const runProcess = <A, E>(main: Effect.Effect<A, E>): void => {
  stopOnHangUp()
  main.pipe(
    Effect.catchCause((cause) => {
      const [sentence] = cause.reasons.flatMap((reason) => (Cause.isFailReason(reason) ? sentenceOf(reason.error) : []))
      if (sentence === undefined) return Effect.failCause(cause)
      return Effect.sync(() => {
        process.stderr.write(`${sentence}\n`)
        process.exitCode = 1
      })
    }),
    NodeRuntime.runMain({
      teardown: (exit, onExit) =>
        Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit),
    }),
  )
}

/** Returns the message of an error that the operator can fix. */
const sentenceOf = (error: unknown): ReadonlyArray<string> => {
  if (error instanceof ListenError) return [error.message]
  return error instanceof Config.ConfigError ? [(error.cause as Error).message] : []
}
