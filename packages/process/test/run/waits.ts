import { Effect } from "effect"
import { runProcess } from "../../src/runProcess.ts"
import { deployment, secretsKey } from "../../src/settings.ts"
import { telemetry } from "../../src/telemetry.ts"

// A process that logs, and then waits until it is stopped.
runProcess(
  Effect.gen(function* () {
    yield* secretsKey
    // @effect-diagnostics-next-line globalErrorInEffectFailure:off
    if ((yield* deployment) === "staging") return yield* Effect.fail(new Error("staging is down"))
    yield* Effect.addFinalizer(() => Effect.logInfo("closed"))
    yield* Effect.logDebug("not seen at the default level")
    yield* Effect.logInfo("waiting")
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(telemetry("waits"))),
)
