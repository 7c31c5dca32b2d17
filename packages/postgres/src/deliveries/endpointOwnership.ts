import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import { UNKNOWN_OUTCOME } from "@outreach/domain/deliveries/Delivery"
import {
  type DeliveryLeases,
  Heartbeat,
  LostDelivery,
  MAX_LOSSES,
  OwnedEndpoint,
} from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointId } from "@outreach/domain/Identifier"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Failing } from "../adapter.ts"
import type { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeRow, decodeRows, only, rowsOf } from "../rowsOf.ts"
import { failureGroupsOf } from "./failureGroupsOf.ts"

const decodeProcesses = decodeRows({ token: Schema.String, process: Schema.String })
const decodeHeartbeat = decodeRow(Heartbeat.fields)
const written = rowsOf(Heartbeat.fields.written.value).json
const taken = rowsOf(Schema.Struct({ taken: Schema.Int, takenOver: Schema.Int }))
const owned = rowsOf(OwnedEndpoint, {
  organizationId: "endpoint.organization_id",
  // A time that was written while the database's clock was ahead can be hours away.
  probeInMs: `least(${MAX_PROBE_WAIT_SECONDS}, greatest(0, extract(epoch from probe_at - clock_timestamp())))::double precision * 1000`,
  inFlightElsewhere: "coalesce(elsewhere.calls, 0)::int",
})
const decodeEndpoints = decodeColumn({ id: EndpointId })
const lost = rowsOf(LostDelivery, { deliveryId: "id" })

/** Owns the deliveries that a lost worker may have sent, until they are recovered. */
const LOST_WORKER = "00000000-0000-0000-0000-000000000000"

const RECOVER_BATCH_SIZE = 1000

/** The outcome of a call whose worker was lost. */
const UNKNOWN = { status: null, outcome: UNKNOWN_OUTCOME, response: null }

/** The methods of `DeliveryLeases` with which workers stay alive, claim endpoints and release them. */
export const endpointOwnership = (sql: SqlClient.SqlClient, hints: Hints["Service"]) => {
  const alive = sql.literal(`(
    select token from delivery_workers
    where alive_until > clock_timestamp() and alive_until < clock_timestamp() + interval '1 minute')`)

  return {
    enter: Effect.fnUntraced(function* (worker, process, hasEnded) {
      yield* sql`
        insert into delivery_workers (token, process, alive_until) values (${worker}::uuid, ${process}, clock_timestamp())
        on conflict (token) do nothing`
      const living =
        yield* sql`select token, process from delivery_workers where process is not null and token in ${alive}`.pipe(
          decodeProcesses,
        )
      const ended = living.flatMap(({ token, process }) => (hasEnded(process) ? token : []))
      yield* sql`update delivery_workers set alive_until = clock_timestamp() where token = any (${ended}::uuid[])`
    }),

    // Changes since a snapshot are found by transaction id, independent of the clock. A long-running transaction causes extra results.
    // With a snapshot, the statement scans all endpoints and their readers: 5 ms for 30,000.
    heartbeat: (worker, leaseSeconds, snapshot) =>
      sql`
        with last_snapshot as materialized (
          select age(${snapshot ?? null}::xid8::xid) as age
        ), me as (
          insert into delivery_workers (token, alive_until)
          values (${worker}::uuid, clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision))
          on conflict (token) do update set alive_until = excluded.alive_until
        ), forgotten as (
          delete from delivery_workers where alive_until < clock_timestamp() - interval '1 day'
        ), others as (
          select count(*)::int as count, count(*) filter (where token < ${worker}::uuid)::int as before
          from delivery_workers
          where token in ${alive} and token <> ${worker}::uuid and not stopping
        ), changed as materialized (
          select id from webhook_endpoints
          where (select age from last_snapshot) is not null and (age(xmin) <= (select age from last_snapshot)
            or organization_id = any (array(select id from organizations where age(xmin) <= (select age from last_snapshot))))
        )
        select before as rank, count + 1 as workers,
          case when ${snapshot === undefined}::boolean or exists (select from changed) then (
            select count(*)::int from webhook_endpoints where enabled
          ) end as endpoints,
          array(
            select id from changed union select endpoint_id from endpoint_readers
            where (select age from last_snapshot) is not null and age(xmin) <= (select age from last_snapshot)
          ) as changed,
          (select coalesce(jsonb_agg(${sql.literal(written)}), '[]') from organization_clock
            where (select age from last_snapshot) is not null and age(xmin) <= (select age from last_snapshot)) as written,
          pg_snapshot_xmin(pg_current_snapshot())::text as snapshot
        from others`.pipe(decodeHeartbeat),

    acquire: (worker, limit) =>
      sql`
        select ${taken.columns}
        from take_endpoints(${worker}::uuid, ${LOST_WORKER}::uuid, array ${alive}, ${limit}::int)`.pipe(
        taken.decode,
        only,
      ),

    listOwned: (worker, endpoints) =>
      sql`
        select ${owned.columns}
        from endpoint_readers reader
        join webhook_endpoints endpoint on endpoint.id = endpoint_id
        left join (
          select endpoint_id, count(*) as calls from deliveries join webhook_endpoints called on called.id = endpoint_id
          where owner is not null and owner <> ${worker}::uuid and owner in ${alive} and owned_at >= address_since
          group by endpoint_id
        ) elsewhere using (endpoint_id)
        where owner = ${worker}::uuid and (${endpoints === undefined}::boolean or endpoint_id = any (${endpoints ?? []}::text[]))`.pipe(
        owned.decode,
      ),

    recoverLost: Effect.fnUntraced(function* (worker) {
      const isLost = sql`delivery.owner is not null and delivery.owner not in ${alive}`
      const endpoints = yield* sql`
        select distinct delivery.endpoint_id as id from deliveries delivery
        join endpoint_readers reader on reader.endpoint_id = delivery.endpoint_id and reader.owner = ${worker}::uuid
        where ${isLost}`.pipe(decodeEndpoints)
      if (endpoints.length === 0) return []
      const groups = endpoints.map((id) => JSON.stringify(failureGroupsOf(id, UNKNOWN).exact))
      return yield* sql`
        with endpoint as (
          select * from unnest(${endpoints}::text[], ${groups}::text[]) as given (id, failure_group)
        ), lost as materialized (
          select delivery.organization_id, delivery.id from deliveries delivery
          join endpoint_readers reader on reader.endpoint_id = delivery.endpoint_id and reader.owner = ${worker}::uuid
          where delivery.endpoint_id in (select id from endpoint) and ${isLost}
          order by delivery.organization_id, delivery.id limit ${RECOVER_BATCH_SIZE}::int for update of delivery skip locked
        ), recovered as (
          update deliveries delivery set owner = null, losses = losses + 1
          from lost
          where delivery.organization_id = lost.organization_id and delivery.id = lost.id and losses < ${MAX_LOSSES - 1}::int
          returning delivery.*
        ), noted as (
          insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
          select organization_id, id, attempts + 1, owned_at, ${UNKNOWN.outcome} from recovered
        ), poison as (
          delete from deliveries delivery using lost
          where delivery.organization_id = lost.organization_id and delivery.id = lost.id and losses >= ${MAX_LOSSES - 1}::int
          returning delivery.*
        ), earlier as (
          delete from delivery_attempts made using poison
          where made.organization_id = poison.organization_id and made.delivery_id = poison.id
          returning made.*
        ), dead as (
          insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at)
          select organization_id, poison.id, endpoint_id, event_id, 'poison', coalesce((
              select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from earlier
              where earlier.organization_id = poison.organization_id and earlier.delivery_id = poison.id
            ), '[]') || attempt_json(attempts + 1, owned_at, null, null, ${UNKNOWN.outcome}, null),
            failure_group::jsonb->>'id', created_at
          from poison join endpoint on endpoint.id = endpoint_id
          returning *
        ), outcomes as (
          insert into delivery_outcomes as held (organization_id, endpoint_id, at, dead_letters)
          select organization_id, endpoint_id, date_bin('5 minutes', clock_timestamp(), 'epoch'), count(*) from dead
          group by organization_id, endpoint_id order by endpoint_id
          on conflict (endpoint_id, at, seconds, organization_id) do update set dead_letters = held.dead_letters + excluded.dead_letters
          returning 1
        ), grouped as materialized (
          select count_failures(jsonb_agg(change)) from (
            select organization_id, group_id, finished_at as at, 1 as failures, reason, 1 as opened, 1 as stored, failure_group::jsonb
            from dead join endpoint on endpoint.id = endpoint_id
            -- Runs after delivery_outcomes, like every statement that counts failures.
            where (select count(*) from outcomes) >= 0
          ) change
        )
        select ${lost.columns} from (
          select id, endpoint_id, false as poison from recovered
          union all
          select id, endpoint_id, true from dead cross join grouped
        ) each`.pipe(lost.decode)
    }),

    handOver: Effect.fnUntraced(function* (worker, endpoints) {
      yield* sql`
        select hand_over(
          ${worker}::uuid, ${endpoints.map(({ endpointId }) => endpointId)}::text[],
          ${endpoints.map(({ calling }) => calling.join())}::text[], ${endpoints.flatMap(({ unsent }) => unsent)}::text[])`
      yield* hints.give("endpoints")
    }),

    stop: (worker) =>
      sql`update delivery_workers set stopping = true where token = ${worker}::uuid`.pipe(
        Effect.andThen(hints.give("endpoints")),
      ),

    leave: (worker) =>
      sql`delete from delivery_workers where token = ${worker}::uuid`.pipe(Effect.andThen(hints.give("endpoints"))),
  } satisfies Partial<Failing<DeliveryLeases["Service"]>>
}
