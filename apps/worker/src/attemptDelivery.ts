import { type AttemptResult, deliveryAttempts } from "@outreach/domain/deliveries/Deliveries"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import type { Schedule } from "@outreach/retry-policy"
import { Clock, Effect, Metric, References } from "effect"
import type { Held } from "./deliveryLane.ts"
import { metrics } from "./metrics.ts"
import { traceAttempt } from "./traceAttempt.ts"

/** Makes the function that makes one attempt at a delivery, measured and traced. */
export const attemptDelivery = Effect.fnUntraced(function* (schedule: Schedule) {
  const attempt = yield* deliveryAttempts(schedule)
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  const isTraced = yield* References.TracerEnabled

  return ({ delivery, readAt }: Held): Effect.Effect<AttemptResult> =>
    Effect.suspend(() => {
      if (delivery.emittedAt !== null) {
        const startedAt = delivery.readAt + clock.currentTimeMillisUnsafe() - readAt
        metrics.firstAttemptDelay.updateUnsafe(
          Math.max(0, startedAt - toUnixMillis(delivery.emittedAt)) / 1000,
          context,
        )
      }
      const attempted = attempt(delivery, readAt)
      return Effect.map(isTraced ? traceAttempt(delivery, attempted) : attempted, (result) => {
        metrics.attempts[result.reason].updateUnsafe(1, context)
        metrics.attemptDuration.updateUnsafe(result.attempt.latencyMs / 1000, context)
        return result
      })
    })
})

/** Counts and logs what became of an attempt once it was written, or could not be. */
export const noteOutcome = ({ delivery, settlement: { state }, reason }: AttemptResult, isWritten: boolean) => {
  const about = {
    deliveryId: delivery.id,
    endpointId: delivery.endpointId,
    eventId: delivery.eventId,
    attempt: delivery.attempt,
    reason,
    state,
  }
  if (!isWritten) {
    return Effect.logWarning("endpoint lost before the outcome of a call was written").pipe(
      Effect.annotateLogs(about),
      Effect.andThen(Metric.update(metrics.settlementsRefused, 1)),
    )
  }
  if (state === "rejected" || state === "exhausted") {
    return Effect.logWarning("delivery dead-lettered").pipe(
      Effect.annotateLogs(about),
      Effect.andThen(Metric.update(metrics.deadLetters[state], 1)),
    )
  }
  return Effect.annotateLogs(Effect.logDebug("delivery attempted"), about)
}
