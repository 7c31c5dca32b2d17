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
      select organization_id, id, endpoint_id, event_id, case when lease_until is null then 'pending' else 'sending' end as state,
        attempts, due_at, created_at, null::timestamptz as finished_at, null as replayed_as
      from deliveries
      union all
      select organization_id, id, endpoint_id, event_id, 'delivered', attempts_made(attempts), null, created_at, finished_at, null
      from delivered
      union all
      select organization_id, id, endpoint_id, event_id, reason, attempts_made(attempts), null, created_at, finished_at, replayed_as
      from dead_letters
    ) delivery join events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id`)

    const matches = (filter: DeadLetterFilter) => sql`
      replayed_as is null
      and (${filter.deliveryId ?? null}::text is null or delivery.id = ${filter.deliveryId ?? null})
      and (${filter.endpointId ?? null}::text is null or endpoint_id = ${filter.endpointId ?? null})
      and (${filter.eventType ?? null}::text is null or event.type = ${filter.eventType ?? null})
      and (${filter.reason ?? null}::text is null or reason = ${filter.reason ?? null})
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
        const [{ attempts }] = (yield* sql<{ attempts: ReadonlyArray<Attempt> }>`
          select coalesce(
            (select attempts from delivered where id = ${deliveryId}),
            (select attempts from dead_letters where id = ${deliveryId}),
            (select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from delivery_attempts made
              where made.organization_id = ${delivery.organizationId} and delivery_id = ${deliveryId}),
            '[]') as attempts`) as [{ attempts: ReadonlyArray<Attempt> }]
        return { delivery, attempts }
      }, dieNaming("DeliveryLedger.find")),

      deadLetters: Effect.fn("DeliveryLedger.deadLetters")(
        (filter, limit) => sql<DeliverySummary>`
          select delivery.organization_id as "organizationId", delivery.id, endpoint_id as "endpointId", event_id as "eventId",
            event.type as "eventType", reason as state, attempts_made(attempts) as attempts, null as "dueAt",
            delivery.created_at as "createdAt", finished_at as "finishedAt", replayed_as as "replayedAs"
          from dead_letters delivery
          join events event on event.organization_id = delivery.organization_id and event.id = delivery.event_id
          where ${matches(filter)} order by finished_at desc, delivery.id desc limit ${limit}`,
        dieNaming("DeliveryLedger.deadLetters"),
      ),

      replay: Effect.fn("DeliveryLedger.replay")(function* (filter) {
        const rows = yield* sql<{ replayed: number }>`
          with dead as (
            update dead_letters delivery set replayed_as = make_id('dlv')
            from events event
            where event.organization_id = delivery.organization_id and event.id = delivery.event_id and ${matches(filter)}
            returning delivery.organization_id, endpoint_id, event_id, replayed_as
          ), queued as (
            insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
            select organization_id, replayed_as, endpoint_id, event_id, clock_timestamp(), true from dead
            returning id
          )
          select count(*)::int as replayed from queued`
        return rows[0]!.replayed
      }, dieNaming("DeliveryLedger.replay")),
    }
  }),
)
