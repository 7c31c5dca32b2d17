import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import {
  DeliveryGauges,
  DUE_QUEUES,
  type DueReading,
  HORIZON_HOLDERS,
  type StateReading,
} from "@outreach/postgres/deliveries/DeliveryGauges"
import { Clock, Duration, Effect, Metric } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"
import { gauges, metrics, type Reading } from "./metrics.ts"

const { everyMs, withinMs, share } = workerLimits.gauges

/**
 * Reads the gauges of the database again and again until interrupted; nobody who asks for metrics ever waits for the database.
 *
 * A reading that is slow is made less often. There are two, because what makes the one slow is what the other tells of.
 */
export const readGauges = Effect.gen(function* () {
  const { readDue, readState } = yield* DeliveryGauges
  return yield* Effect.all(
    [keepReading("due", Effect.flatMap(readDue, showDue)), keepReading("state", Effect.flatMap(readState, showState))],
    { concurrency: "unbounded", discard: true },
  )
})

const keepReading = (reading: Reading, read: Effect.Effect<void>) =>
  retryForever(
    `gauges: ${reading}`,
    Effect.gen(function* () {
      const [took] = yield* Effect.timed(read).pipe(
        Effect.timeout(withinMs),
        Effect.onError(() => Metric.update(metrics.readingUp[reading], 0)),
      )
      yield* Metric.update(metrics.readAt[reading], (yield* Clock.currentTimeMillis) / 1000)
      yield* Metric.update(metrics.readingUp[reading], 1)
      yield* Effect.sleep(Math.max(everyMs, Duration.toMillis(took) / share))
    }),
  )

const showDue = Effect.fnUntraced(function* ({ deliveries, messages, inbox, hits, unsubscriptions }: DueReading) {
  for (const queue of DUE_QUEUES) {
    yield* Metric.update(gauges.due[queue], deliveries[queue].count)
    yield* Metric.update(gauges.oldestDue[queue], deliveries[queue].oldestSeconds)
    yield* Metric.update(gauges.maxLagEvents[queue], deliveries[queue].maxLagEvents)
    yield* Metric.update(gauges.maxLagSeconds[queue], deliveries[queue].maxLagSeconds)
  }
  yield* Metric.update(gauges.messagesDue, messages.count)
  yield* Metric.update(gauges.messagesOldestDue, messages.oldestSeconds)
  yield* Metric.update(gauges.inboxWaiting, inbox.count)
  yield* Metric.update(gauges.inboxOldestWaiting, inbox.oldestSeconds)
  yield* Metric.update(gauges.hitsWaiting, hits.count)
  yield* Metric.update(gauges.hitsOldestWaiting, hits.oldestSeconds)
  yield* Metric.update(gauges.unsubscriptionsWaiting, unsubscriptions.count)
  yield* Metric.update(gauges.unsubscriptionsOldestWaiting, unsubscriptions.oldestSeconds)
})

const showState = Effect.fnUntraced(function* (reading: StateReading) {
  for (const reason of DEAD_LETTER_REASONS) {
    yield* Metric.update(gauges.deadLetters[reason], reading.deadLetters[reason])
  }
  for (const holder of HORIZON_HOLDERS) {
    yield* Metric.update(gauges.horizonTransactions[holder], reading.horizon[holder].transactions)
    yield* Metric.update(gauges.horizonSeconds[holder], reading.horizon[holder].seconds)
  }
  yield* Metric.update(gauges.clockAhead, reading.clockAheadSeconds)
  yield* Metric.update(gauges.clockDoubted, reading.clockDoubt === null ? 0 : 1)
  yield* Metric.update(gauges.inFlight, reading.inFlight)
  yield* Metric.update(gauges.messagesQuarantined, reading.messagesQuarantined)
  yield* Metric.update(gauges.inboxQuarantined, reading.inboxQuarantined)
  yield* Metric.update(gauges.breakersOpen, reading.breakersOpen)
  yield* Metric.update(gauges.queueRows, reading.queue.rows)
  yield* Metric.update(gauges.queueDeadRows, reading.queue.deadRows)
})
