import type { AlertReading } from "@outreach/domain/operators/alerts"
import { DatabaseService } from "@outreach/postgres/adapter"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { only, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

const workers = rowsOf(Schema.Struct({ noWorker: Schema.Int, workersPaused: Schema.Int }), {
  noWorker: "(not exists (select from delivery_workers where alive_until > clock_timestamp() and not stopping))::int",
  workersPaused: "(restore_fault() is not null)::int",
})

/** Reads the causes of the alerts, with the queries of the metrics. */
export class AlertReader extends DatabaseService<AlertReader>()("backoffice/inspection/AlertReader", function* (sql) {
  const { readOldest, readState } = yield* DeliveryGauges
  const readWorkers = sql`select ${workers.columns}`.pipe(workers.decode, only)
  return {
    read: Effect.map(
      Effect.all([readWorkers, readOldest, readState], { concurrency: "unbounded" }),
      ([workers, due, state]): AlertReading => ({
        ...workers,
        liveOldestSeconds: due.deliveries.live.oldestSeconds,
        liveMaxLagSeconds: due.deliveries.live.maxLagSeconds,
        probedOldestSeconds: due.deliveries.probed.oldestSeconds,
        endpointsFailing: state.endpointsFailing.some + state.endpointsFailing.none,
        deadLetters: Object.values(state.deadLetters).reduce((sum, count) => sum + count, 0),
        messagesOldestSeconds: due.messages.oldestSeconds,
        messagesQuarantined: state.messagesQuarantined,
        campaignsRaised: state.campaignsComplained.raised,
        campaignsHigh: state.campaignsComplained.high,
        unsubscriptionsOldestSeconds: due.unsubscriptions.oldestSeconds,
        inboxOldestSeconds: due.inbox.oldestSeconds,
        inboxQuarantined: state.inboxQuarantined,
        hitsOldestSeconds: due.hits.oldestSeconds,
        deliveriesDeadRows: state.queue.deadRows,
        horizonSeconds: Math.max(...Object.values(state.horizon).map(({ seconds }) => seconds)),
        clockAheadSeconds: state.clockAheadSeconds,
        clockDoubted: state.clockDoubt === null ? 0 : 1,
      }),
    ),
  }
}) {}
