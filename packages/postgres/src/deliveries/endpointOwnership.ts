import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import {
  type EndpointReaders,
  type LostDelivery,
  MAX_LOSSES,
  type OwnedEndpoint,
} from "@outreach/domain/deliveries/EndpointReaders"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { Hints } from "../events/Hints.ts"

/** Owns what a lost worker's calls may have been made for, until it is recovered. */
const NOBODY = "00000000-0000-0000-0000-000000000000"

/** How many lost deliveries one statement takes back. */
const RECOVER_BATCH_SIZE = 1000

/** Which worker delivers to which endpoint: the part of `EndpointReaders` by which workers live, take endpoints, and give them up. */
export const endpointOwnership = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const hints = yield* Hints
  const alive = sql.literal(`(
    select token from delivery_workers
    where alive_until > clock_timestamp() and alive_until < clock_timestamp() + interval '1 minute')`)

  return {
    live: Effect.fnUntraced(function* (worker, leaseSeconds) {
      const rows = yield* sql<{ rank: number; workers: number; endpoints: number }>`
        with me as (
          insert into delivery_workers (token, alive_until)
          values (${worker}::uuid, clock_timestamp() + make_interval(secs => ${leaseSeconds}::double precision))
          on conflict (token) do update set alive_until = excluded.alive_until
        ), forgotten as (
          delete from delivery_workers where alive_until < clock_timestamp() - interval '1 day'
        ), others as (
          select count(*)::int as count, count(*) filter (where token < ${worker}::uuid)::int as before
          from delivery_workers
          where token in ${alive} and token <> ${worker}::uuid and not stopping
        )
        select before as rank, count + 1 as workers,
          (select count(*)::int from webhook_endpoints where enabled) as endpoints
        from others`
      return rows[0]!
    }, orDieAs("EndpointReaders.live")),

    take: Effect.fnUntraced(function* (worker, limit) {
      const rows = yield* sql<{ taken: number; takenOver: number }>`
        with free as materialized (
          select reader.* from endpoint_readers reader
          join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
          where enabled and (owner is null or owner not in ${alive})
          -- First those that a lost worker left, which wait already.
          order by owner is null limit ${limit}::int for update of reader skip locked
        ), kept as (
          insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at, from_log)
          select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(), ${NOBODY}::uuid,
            intended_at, true
          from free cross join unnest(open) as event_id
        ), left_behind as (
          -- Also should its worker live again: it knows nothing of a row that was an event of the log to it.
          update deliveries set owner = ${NOBODY}::uuid
          from free where deliveries.endpoint_id = free.endpoint_id and deliveries.owner = free.owner
        ), taken as (
          update endpoint_readers set owner = ${worker}::uuid, open = '{}'
          from free where endpoint_readers.endpoint_id = free.endpoint_id
          returning free.owner as before
        )
        select count(*)::int as taken, count(before)::int as "takenOver" from taken`
      return rows[0]!
    }, orDieAs("EndpointReaders.take")),

    owned: (worker) =>
      sql<OwnedEndpoint>`
        select endpoint_id as "endpointId", reader.organization_id as "organizationId", enabled, max_in_flight as "maxInFlight",
          failures, allowance, greatest(0, extract(epoch from probe_at - clock_timestamp()) * 1000)::double precision as "probeInMs",
          coalesce(elsewhere.calls, 0)::int as "inFlightElsewhere"
        from endpoint_readers reader
        join webhook_endpoints endpoint on endpoint.id = endpoint_id
        left join (
          select endpoint_id, count(*) as calls from deliveries
          where owner is not null and owner <> ${worker}::uuid and owner in ${alive} group by endpoint_id
        ) elsewhere using (endpoint_id)
        where owner = ${worker}::uuid`.pipe(
        // Written while the database's clock was ahead, it may lie hours away.
        Effect.map((rows) =>
          rows.map((row) => ({ ...row, probeInMs: Math.min(row.probeInMs ?? 0, MAX_PROBE_WAIT_SECONDS * 1000) })),
        ),
        orDieAs("EndpointReaders.owned"),
      ),

    recover: (worker) =>
      sql<LostDelivery>`
      with lost as materialized (
        select delivery.organization_id, delivery.id from deliveries delivery
        join endpoint_readers reader on reader.endpoint_id = delivery.endpoint_id and reader.owner = ${worker}::uuid
        where delivery.owner is not null and delivery.owner not in ${alive}
        order by delivery.organization_id, delivery.id limit ${RECOVER_BATCH_SIZE}::int for update of delivery skip locked
      ), recovered as (
        update deliveries delivery set owner = null, losses = losses + 1
        from lost
        where delivery.organization_id = lost.organization_id and delivery.id = lost.id and losses < ${MAX_LOSSES - 1}::int
        returning delivery.*
      ), noted as (
        insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
        select organization_id, id, attempts + 1, owned_at, 'outcome_unknown' from recovered
      ), poison as (
        delete from deliveries delivery using lost
        where delivery.organization_id = lost.organization_id and delivery.id = lost.id and losses >= ${MAX_LOSSES - 1}::int
        returning delivery.*
      ), earlier as (
        delete from delivery_attempts made using poison
        where made.organization_id = poison.organization_id and made.delivery_id = poison.id
        returning made.*
      ), dead as (
        insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at)
        select organization_id, id, endpoint_id, event_id, 'poison', coalesce((
            select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from earlier
            where earlier.organization_id = poison.organization_id and earlier.delivery_id = poison.id
          ), '[]') || attempt_json(attempts + 1, owned_at, null, null, 'outcome_unknown', null),
          created_at
        from poison
      )
      select id as "deliveryId", endpoint_id as "endpointId", false as poison from recovered
      union all
      select id, endpoint_id, true from poison`.pipe(orDieAs("EndpointReaders.recover")),

    handOver: Effect.fnUntraced(function* (worker, endpoints) {
      yield* sql`
        with reader as materialized (
          select reader.*, string_to_array(calling, ',') as calling
          from unnest(
            ${endpoints.map(({ endpointId }) => endpointId)}::text[], ${endpoints.map(({ calling }) => calling.join())}::text[]
          ) as given (id, calling)
          join endpoint_readers reader on reader.endpoint_id = given.id
          where owner = ${worker}::uuid
          order by reader.endpoint_id for update of reader
        ), kept as (
          insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at, from_log)
          select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(),
            case when event_id = any (calling) then owner end, case when event_id = any (calling) then intended_at end, true
          from reader cross join unnest(open) as event_id
        ), unbegun as (
          update deliveries set owner = null, owned_at = null
          where owner = ${worker}::uuid and id = any (${endpoints.flatMap(({ unbegun }) => unbegun)}::text[])
        )
        update endpoint_readers set owner = null, open = '{}'
        from reader where endpoint_readers.endpoint_id = reader.endpoint_id`
      yield* hints.give("endpoints")
    }, orDieAs("EndpointReaders.handOver")),

    stop: (worker) =>
      sql`update delivery_workers set stopping = true where token = ${worker}::uuid`.pipe(
        Effect.andThen(hints.give("endpoints")),
        orDieAs("EndpointReaders.stop"),
      ),

    leave: (worker) =>
      sql`delete from delivery_workers where token = ${worker}::uuid`.pipe(
        Effect.andThen(hints.give("endpoints")),
        orDieAs("EndpointReaders.leave"),
      ),
  } satisfies Partial<EndpointReaders["Service"]>
})
