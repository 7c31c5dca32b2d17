import { type AttemptResult, deliveryAttempts } from "@outreach/domain/deliveries/Deliveries"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { Outcome } from "@outreach/domain/deliveries/DeliveryLeases"
import { scheduleOf } from "@outreach/domain/deliveries/deliverySchedule"
import { monotonicMs } from "@outreach/domain/monotonicMs"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { parseTraceparent } from "@outreach/domain/TraceContext"
import type { Schedule } from "@outreach/retry-policy"
import { Clock, Effect, LogLevel, Metric, References } from "effect"
import { metrics } from "../metrics.ts"
import type { Call } from "./DeliveryScheduler.ts"
import type { deadLetterLog } from "./deadLetterLog.ts"
import { secretsAt } from "./EndpointQueue.ts"

/** Creates functions that make one traced attempt at a delivery, count it when it ends, and log it when it is written. */
export const attemptDelivery = Effect.fnUntraced(function* (
  deploymentSchedule: Schedule,
  noteDeadLetter: Effect.Success<typeof deadLetterLog>,
) {
  const attempt = yield* deliveryAttempts
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  const isTraced = yield* References.TracerEnabled
  const isDebugLogged = LogLevel.isLessThanOrEqualTo(yield* References.MinimumLogLevel, "Debug")

  return {
    attempt: ({ queue, delivery }: Call, now: number): Effect.Effect<AttemptResult> => {
      if (delivery.emittedAt !== null) {
        const startedAt = delivery.databaseAheadMs + monotonicMs(clock)
        metrics.firstAttemptDelay.updateUnsafe(
          Math.max(0, startedAt - toUnixMillis(delivery.emittedAt)) / 1000,
          context,
        )
      }
      const { endpoint, headers } = queue
      const { retryDelays } = endpoint
      const schedule = retryDelays === null ? deploymentSchedule : scheduleOf(retryDelays)
      const made = attempt(delivery, { endpoint, schedule, secrets: secretsAt(queue, now), headers })
      return isTraced ? traceAttempt(delivery, made) : made
    },
    count: ({ attempt: { outcome, latencyMs } }: AttemptResult): void => {
      metrics.attempts[outcome].updateUnsafe(1, context)
      metrics.attemptDuration.updateUnsafe(latencyMs / 1000, context)
    },
    /** Counts and logs an outcome after it was written, or couldn't be. */
    note: (
      { delivery: { id: deliveryId, endpointId, eventId }, attempt, settlement: state }: Outcome,
      isWritten: boolean,
    ): Effect.Effect<void> => {
      if (isWritten && state === "delivered" && !isDebugLogged) return Effect.void
      const about = Effect.annotateLogs({
        deliveryId,
        endpointId,
        eventId,
        attempt: attempt?.number,
        reason: attempt?.outcome ?? "no_attempt",
        state,
      })
      if (!isWritten) {
        return about(
          Effect.andThen(
            Effect.logWarning("endpoint taken over before the outcome was written"),
            Metric.update(metrics.settlementsRefused, 1),
          ),
        )
      }
      if (state === "rejected" || state === "exhausted") {
        return about(noteDeadLetter(state, { deliveryId, endpointId }))
      }
      return about(Effect.logDebug("delivery attempted"))
    },
  }
})

/** Wraps an attempt in a span with endpoint and outcome, in the trace of the event's publication. */
const traceAttempt = (delivery: Delivery, attempt: Effect.Effect<AttemptResult>): Effect.Effect<AttemptResult> =>
  Effect.useSpan(
    "deliver webhook",
    {
      kind: "client",
      ...traceOf(delivery),
      attributes: {
        "outreach.event.id": delivery.eventId,
        "outreach.delivery.id": delivery.id,
        "outreach.endpoint.id": delivery.endpointId,
        "outreach.attempt": delivery.attempt,
      },
    },
    (span) =>
      Effect.tap(attempt, ({ attempt: { status, outcome }, settlement }) =>
        Effect.sync(() => {
          if (status !== null) span.attribute("http.response.status_code", status)
          span.attribute("outreach.outcome", outcome)
          if (outcome !== "success") span.attribute("error.type", outcome)
          span.attribute("outreach.settlement", settlement)
        }),
      ),
  )

/** If the publication of the event wasn't sampled, only failed or slow attempts are exported. */
const traceOf = ({ traceparent }: Delivery) => {
  const parent = parseTraceparent(traceparent)
  return parent === undefined ? { root: true, sampled: false } : { parent }
}
