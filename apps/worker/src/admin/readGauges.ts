import { COUNT_CAP } from "@outreach/domain/countCaps"
import {
  DeliveryGauges,
  type DueDeliveries,
  type DueReading,
  LAGS_COUNTED,
  type StateReading,
} from "@outreach/postgres/deliveries/DeliveryGauges"
import { Clock, Duration, Effect, Metric } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { metrics, type Reading } from "../metrics.ts"
import { workerLimits } from "../workerLimits.ts"

/** Gauges by name: description, and values from a reading of the database. */
type GaugesOf<Read> = Readonly<Record<string, readonly [description: string, read: (reading: Read) => Value]>>

/** Value of a gauge, or its values by label. */
type Value = number | { readonly [label: string]: Readonly<Record<string, number>> }

const CAPPED = `counted up to ${COUNT_CAP}`

const DUE: GaugesOf<DueReading> = {
  outreach_deliveries_due: [
    `Deliveries that are due and not in flight, ${CAPPED} of each queue.`,
    byQueue(({ count }) => count),
  ],
  outreach_deliveries_oldest_due_age_seconds: [
    "How long the first of them has been due.",
    byQueue(({ oldestSeconds }) => oldestSeconds),
  ],
  outreach_endpoint_max_lag_events: [
    `The most that wait for one endpoint, ${CAPPED}, of the ${LAGS_COUNTED} that have waited longest.`,
    byQueue(({ maxLagEvents }) => maxLagEvents),
  ],
  outreach_endpoint_max_lag_seconds: [
    "How far the endpoint that has waited longest is behind.",
    byQueue(({ maxLagSeconds }) => maxLagSeconds),
  ],
  outreach_deliveries_in_flight: ["Deliveries in flight in all workers.", ({ inFlight }) => inFlight],
  outreach_messages_due: [`E-mails that are due and not being sent, ${CAPPED}.`, ({ messages }) => messages.count],
  outreach_messages_oldest_due_age_seconds: [
    "How long the first of them has been due.",
    ({ messages }) => messages.oldestSeconds,
  ],
  outreach_inbox_waiting: [`Inbound events that wait to be applied, ${CAPPED}.`, ({ inbox }) => inbox.count],
  outreach_inbox_oldest_waiting_age_seconds: [
    "How long ago the first of them was received.",
    ({ inbox }) => inbox.oldestSeconds,
  ],
  outreach_hits_waiting: [`Opens and clicks that wait to be judged, ${CAPPED}.`, ({ hits }) => hits.count],
  outreach_hits_oldest_waiting_age_seconds: [
    "For how long the first of them has waited; up to a minute is for their messages to be accepted.",
    ({ hits }) => hits.oldestSeconds,
  ],
  outreach_unsubscriptions_waiting: [
    `Recipients who asked for no more e-mails and are not suppressed yet, ${CAPPED}.`,
    ({ unsubscriptions }) => unsubscriptions.count,
  ],
  outreach_unsubscriptions_oldest_waiting_age_seconds: [
    "For how long the first of them has waited.",
    ({ unsubscriptions }) => unsubscriptions.oldestSeconds,
  ],
}

const STATE: GaugesOf<StateReading> = {
  outreach_dead_letters: [
    `Dead letters that were not replayed, counted up to the newest ${COUNT_CAP}.`,
    ({ deadLetters }) => ({ reason: deadLetters }),
  ],
  outreach_database_horizon_age_transactions: [
    "Transactions since the oldest one that may still see deleted rows.",
    ({ horizon }) => ({ holder: mapValues(horizon, ({ transactions }) => transactions) }),
  ],
  outreach_database_horizon_age_seconds: [
    "How long that one has been open; a replication slot does not say.",
    ({ horizon }) => ({ holder: mapValues(horizon, ({ seconds }) => seconds) }),
  ],
  outreach_organization_clock_ahead_seconds: [
    "How far the clock of an organization is ahead of the database's, at most.",
    ({ clockAheadSeconds }) => clockAheadSeconds,
  ],
  outreach_clock_doubted: [
    "1 while a worker doesn't trust the database's clock, so that no data is deleted by age.",
    ({ clockDoubt }) => (clockDoubt === null ? 0 : 1),
  ],
  outreach_breakers_open: [
    "Endpoints that failed repeatedly and are probed, or have just recovered.",
    ({ breakersOpen }) => breakersOpen,
  ],
  outreach_endpoints_failing: [
    "Endpoints to which every call has failed for a day, or that were disabled for it, by whether their organization has contacts.",
    ({ endpointsFailing }) => ({ contacts: endpointsFailing }),
  ],
  outreach_messages_quarantined: [
    `E-mails with an unknown outcome that aren't retried, ${CAPPED}.`,
    ({ messagesQuarantined }) => messagesQuarantined,
  ],
  outreach_campaigns_complained: [
    "Campaigns about which recipients have complained in the last seven days, by whether their share has reached 0.1 % (raised) or 0.3 % (high).",
    ({ campaignsComplained }) => ({ level: campaignsComplained }),
  ],
  outreach_inbox_set_aside: [
    `Inbound events that could not be applied and were not replayed, ${CAPPED}.`,
    ({ inboxQuarantined }) => inboxQuarantined,
  ],
  outreach_deliveries_rows: [
    "Rows of the delivery queue, due or not: the database's estimate.",
    ({ queue }) => queue.rows,
  ],
  outreach_deliveries_dead_rows: [
    "Remains of rows in the delivery queue: the database's estimate.",
    ({ queue }) => queue.deadRows,
  ],
}

function byQueue(read: (due: DueDeliveries) => number): (reading: DueReading) => Value {
  return ({ deliveries }) => ({ queue: mapValues(deliveries, read) })
}

function mapValues<Item>(
  items: Readonly<Record<string, Item>>,
  read: (item: Item) => number,
): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(items).map(([key, item]) => [key, read(item)]))
}

const { everyMs, withinMs, share } = workerLimits.gauges

/**
 * Reads the database gauges repeatedly until interrupted, so that metrics requests don't wait for the database. Every worker
 * reports the same values, those of all workers: use the maximum, not the sum.
 *
 * Slow readings are made less often. There are two, because a problem that slows one down is reported by the other.
 */
export const readGauges = Effect.gen(function* () {
  const { readDue, readState } = yield* DeliveryGauges
  return yield* Effect.all([keepReading("due", readDue, DUE), keepReading("state", readState, STATE)], {
    concurrency: "unbounded",
    discard: true,
  })
})

const keepReading = <Read>(reading: Reading, read: Effect.Effect<Read>, gauges: GaugesOf<Read>) =>
  retryForever(
    `gauges: ${reading}`,
    Effect.gen(function* () {
      const [took] = yield* Effect.timed(Effect.flatMap(read, (values) => show(gauges, values))).pipe(
        Effect.timeout(withinMs),
        Effect.onError(() => Metric.update(metrics.readingUp[reading], 0)),
      )
      yield* Metric.update(metrics.readAt[reading], (yield* Clock.currentTimeMillis) / 1000)
      yield* Metric.update(metrics.readingUp[reading], 1)
      yield* Effect.sleep(Math.max(everyMs, Duration.toMillis(took) / share))
    }),
  )

const show = Effect.fnUntraced(function* <Read>(gauges: GaugesOf<Read>, reading: Read) {
  for (const [name, [description, read]] of Object.entries(gauges)) {
    const value = read(reading)
    if (typeof value === "number") yield* Metric.update(Metric.gauge(name, { description }), value)
    else {
      for (const [label, values] of Object.entries(value)) {
        for (const [of, one] of Object.entries(values)) {
          yield* Metric.update(Metric.gauge(name, { description, attributes: { [label]: of } }), one)
        }
      }
    }
  }
})
