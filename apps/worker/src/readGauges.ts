import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import {
  DeliveryGauges,
  DUE_QUEUES,
  type GaugeReading,
  HORIZON_HOLDERS,
} from "@outreach/domain/deliveries/DeliveryGauges"
import { Clock, Duration, Effect, Metric } from "effect"
import { gauges, metrics } from "./metrics.ts"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

const { everyMs, withinMs, share } = workerLimits.gauges

/**
 * Reads the gauges of the database again and again until interrupted; nobody who asks for metrics ever waits for the database.
 *
 * A reading that is slow is made less often.
 */
export const readGauges = Effect.gen(function* () {
  const { read } = yield* DeliveryGauges
  const once = Effect.gen(function* () {
    const [took, reading] = yield* Effect.timed(read).pipe(
      Effect.timeout(withinMs),
      Effect.onError(() => Metric.update(metrics.databaseUp, 0)),
    )
    yield* show(reading)
    yield* Effect.sleep(Math.max(everyMs, Duration.toMillis(took) / share))
  })
  return yield* persist("gauges", once)
})

const show = Effect.fnUntraced(function* (reading: GaugeReading) {
  for (const queue of DUE_QUEUES) {
    yield* Metric.update(gauges.due[queue], reading.due[queue].count)
    yield* Metric.update(gauges.oldestDue[queue], reading.due[queue].oldestSeconds)
  }
  for (const reason of DEAD_LETTER_REASONS)
    yield* Metric.update(gauges.deadLetters[reason], reading.deadLetters[reason])
  for (const holder of HORIZON_HOLDERS) {
    yield* Metric.update(gauges.horizonTransactions[holder], reading.horizon[holder].transactions)
    yield* Metric.update(gauges.horizonSeconds[holder], reading.horizon[holder].seconds)
  }
  yield* Metric.update(gauges.inFlight, reading.inFlight)
  yield* Metric.update(gauges.breakersOpen, reading.breakersOpen)
  yield* Metric.update(gauges.messagesDue, reading.messages.count)
  yield* Metric.update(gauges.messagesOldestDue, reading.messages.oldestSeconds)
  yield* Metric.update(gauges.queueRows, reading.queue.rows)
  yield* Metric.update(gauges.queueDeadRows, reading.queue.deadRows)
  yield* Metric.update(gauges.readAt, (yield* Clock.currentTimeMillis) / 1000)
  yield* Metric.update(metrics.databaseUp, 1)
})
