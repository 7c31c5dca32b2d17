import { Cause, Clock, Duration, Effect, Exit, Metric } from "effect"
import { metrics } from "../admin/metrics.ts"

/** Counts and times a claim, and notes when one last succeeded or failed; one that is interrupted did neither. */
export const measureClaim = <A, E, R>(claim: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const [took, exit] = yield* Effect.timed(Effect.exit(claim))
    if (Exit.isSuccess(exit) || !Cause.hasInterruptsOnly(exit.cause)) {
      const result = Exit.isSuccess(exit) ? "succeeded" : "failed"
      yield* Metric.update(metrics.claims[result], 1)
      yield* Metric.update(metrics.claimDuration, Duration.toSeconds(took))
      yield* Metric.update(metrics.lastClaim[result], (yield* Clock.currentTimeMillis) / 1000)
    }
    return yield* exit
  })
