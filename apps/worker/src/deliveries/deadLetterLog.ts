import { DEAD_LETTER_REASONS, type DeadLetterReason, type Delivery } from "@outreach/domain/deliveries/Delivery"
import { Effect, Metric } from "effect"
import { metrics } from "../admin/metrics.ts"
import { workerLimits } from "../workerLimits.ts"

/** The dead letters of one reason since the last line of the log. */
interface Tally {
  count: number
  readonly first: DeadLetter
}

interface DeadLetter {
  readonly deliveryId: Delivery["id"]
  readonly endpointId: Delivery["endpointId"]
}

/**
 * Counts deliveries that became dead letters, and logs one line about all of the last 10 s: a partner that refuses may make thousands a second.
 *
 * When the scope closes it logs those that are left. Each dead letter has a line of its own at the level `debug`.
 */
export const deadLetterLog = Effect.gen(function* () {
  const tallies = new Map<DeadLetterReason, Tally>()

  const flush = Effect.suspend(() => {
    if (tallies.size === 0) return Effect.void
    const found = DEAD_LETTER_REASONS.flatMap((reason) => {
      const tally = tallies.get(reason)
      return tally === undefined ? [] : [[reason, { count: tally.count, first: tally.first }] as const]
    })
    tallies.clear()
    return Effect.annotateLogs(Effect.logWarning("deliveries dead-lettered"), Object.fromEntries(found))
  })

  yield* Effect.addFinalizer(() => flush)
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(Effect.sleep(workerLimits.deliveries.deadLettersEveryMs), flush)),
  )

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
