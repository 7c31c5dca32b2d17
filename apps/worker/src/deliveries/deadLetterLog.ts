import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import type { LostDelivery } from "@outreach/domain/deliveries/DeliveryLeases"
import { Effect, Metric } from "effect"
import { metrics } from "../metrics.ts"

/** Interval of the log lines. */
const LOG_EVERY_MS = 10_000

type DeadLetter = Pick<LostDelivery, "deliveryId" | "endpointId">

/**
 * Counts new dead letters, and logs one line for each 10 s: a failing partner can cause thousands a second.
 *
 * Logs the rest when the scope closes. At level `debug`, each dead letter has a log line.
 */
export const deadLetterLog = Effect.gen(function* () {
  /** Dead letters since the last log line. */
  const tallies = new Map<DeadLetterReason, { count: number; readonly first: DeadLetter }>()

  const flush = Effect.suspend(() => {
    if (tallies.size === 0) return Effect.void
    const found = Object.fromEntries(tallies)
    tallies.clear()
    return Effect.annotateLogs(Effect.logWarning("deliveries dead-lettered"), found)
  })

  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(LOG_EVERY_MS), flush)))

  return (reason: DeadLetterReason, deadLetter: DeadLetter): Effect.Effect<void> =>
    Effect.suspend(() => {
      const tally = tallies.get(reason)
      if (tally === undefined) tallies.set(reason, { count: 1, first: deadLetter })
      else tally.count++
      return Effect.andThen(
        Effect.annotateLogs(Effect.logDebug("delivery dead-lettered"), { ...deadLetter, state: reason }),
        Metric.update(metrics.deadLetters[reason], 1),
      )
    })
})
