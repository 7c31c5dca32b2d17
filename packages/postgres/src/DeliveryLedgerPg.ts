import type { Attempt, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { type DeadLetterFilter, DeliveryLedger, DeliveryNotFound } from "@outreach/domain/deliveries/DeliveryLedger"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/** Reads the deliveries' history in PostgreSQL, and replays. */
export const DeliveryLedgerPg = Layer.effect(
  DeliveryLedger,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      delivery.organization_id as "organizationId", delivery.id, endpoint_id as "endpointId", event_id as "eventId",
      event.type as "eventType", state, attempts, due_at as "dueAt", delivery.created_at as "createdAt",
      finished_at as "finishedAt", replayed_as as "replayedAs"`)
    const all = sql.literal(`(
      select organization_id, id, endpoint_id, event_id, 'pending' as state, attempts, due_at, created_at,
        null::timestamptz as finished_at, null as replayed_as
      from deliveries
      union all
      select organization_id, id, endpoint_id, event_id, state, attempts, null, created_at, finished_at, replayed_as
      from finished_deliveries
    ) delivery join events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id`)

    const matches = (filter: DeadLetterFilter) => sql`
      state in ('rejected', 'exhausted') and replayed_as is null
      and (${filter.deliveryId ?? null}::text is null or delivery.id = ${filter.deliveryId ?? null})
      and (${filter.endpointId ?? null}::text is null or endpoint_id = ${filter.endpointId ?? null})
      and (${filter.eventType ?? null}::text is null or event.type = ${filter.eventType ?? null})
      and (${filter.reason ?? null}::text is null or state = ${filter.reason ?? null})
      and finished_at >= coalesce(${filter.from ?? null}::timestamptz, '-infinity')
      and finished_at < coalesce(${filter.to ?? null}::timestamptz, 'infinity')`

    return {
      list: Effect.fn("DeliveryLedger.list")(
        ({ state, endpointId, limit }) => sql<DeliverySummary>`
          select ${columns} from ${all}
          where (${state ?? null}::text is null or state = ${state ?? null})
            and (${endpointId ?? null}::text is null or endpoint_id = ${endpointId ?? null})
          order by delivery.id desc limit ${limit}`,
        dieNaming("DeliveryLedger.list"),
      ),

      find: Effect.fn("DeliveryLedger.find")(function* (deliveryId) {
        const rows = yield* sql<DeliverySummary>`select ${columns} from ${all} where delivery.id = ${deliveryId}`
        const delivery = rows[0] ?? (yield* new DeliveryNotFound({ deliveryId }))
        const attempts = yield* sql<Attempt>`
          select number, started_at as "startedAt", latency_ms as "latencyMs", status, outcome, response
          from delivery_attempts
          where organization_id = ${delivery.organizationId} and delivery_id = ${deliveryId} order by number`
        return { delivery, attempts }
      }, dieNaming("DeliveryLedger.find")),

      deadLetters: Effect.fn("DeliveryLedger.deadLetters")(
        (filter, limit) => sql<DeliverySummary>`
          select ${columns} from ${all} where ${matches(filter)} order by finished_at desc, delivery.id desc limit ${limit}`,
        dieNaming("DeliveryLedger.deadLetters"),
      ),

      replay: Effect.fn("DeliveryLedger.replay")(function* (filter) {
        const rows = yield* sql<{ replayed: number }>`
          with dead as (
            update finished_deliveries delivery set replayed_as = make_id('dlv')
            from events event
            where event.organization_id = delivery.organization_id and event.id = delivery.event_id and ${matches(filter)}
            returning delivery.organization_id, endpoint_id, event_id, replayed_as
          ), queued as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at)
            select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp() from dead
            returning id
          )
          select count(*)::int as replayed from queued`
        return rows[0]!.replayed
      }, dieNaming("DeliveryLedger.replay")),
    }
  }),
)
