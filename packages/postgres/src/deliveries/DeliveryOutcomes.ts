import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { dieOnDatabaseFailure } from "../adapter.ts"
import { forgetRows } from "../forgetRows.ts"
import { decodeValue } from "../rowsOf.ts"

/** For how long outcomes are kept by five minutes. After that they are kept by the hour. */
export const FINE_OUTCOMES_DAYS = 2

const BATCH_SIZE = 5000

const decodeCount = decodeValue({ count: Schema.Int })

/** Keeps the outcomes of deliveries, which `write_progress` and `recover` count, and the trends of failures. */
export class DeliveryOutcomes extends Context.Service<DeliveryOutcomes>()("postgres/deliveries/DeliveryOutcomes", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return dieOnDatabaseFailure("DeliveryOutcomes", {
      /**
       * Merges some outcomes that are older than `FINE_OUTCOMES_DAYS` by the hour; returns how many rows, 0 when all is done.
       *
       * An organization that is frozen is left alone: its rows come from another server, or go to one.
       */
      merge: sql`
        with old as materialized (
          select ctid as row_ctid from delivery_outcomes
          where seconds = 300 and at < date_trunc('hour', plausible_now() - make_interval(days => ${FINE_OUTCOMES_DAYS}::int), 'UTC')
            and organization_id not in (select id from organizations where frozen_at is not null)
          order by at limit ${BATCH_SIZE}::int for update skip locked
        ), merged as (
          delete from delivery_outcomes where ctid = any (array(select row_ctid from old))
          returning *, date_trunc('hour', at, 'UTC') as hour
        ), latency as (
          select endpoint_id, hour, array_agg(total order by bucket) as histogram from (
            select endpoint_id, hour, bucket, sum(count)::int as total
            from merged cross join unnest(latencies) with ordinality as each (count, bucket)
            group by endpoint_id, hour, bucket
          ) counted
          group by endpoint_id, hour
        ), added as (
          insert into delivery_outcomes as held (
            organization_id, endpoint_id, at, seconds, delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters,
            latencies)
          select organization_id, endpoint_id, hour, 3600, sum(delivered), sum(client_errors), sum(server_errors), sum(other_statuses),
            sum(no_responses), sum(dead_letters), coalesce(histogram, '{}')
          from merged left join latency using (endpoint_id, hour)
          group by organization_id, endpoint_id, hour, histogram
          order by hour, endpoint_id
          on conflict (endpoint_id, at, seconds, organization_id) do update
            set delivered = held.delivered + excluded.delivered, client_errors = held.client_errors + excluded.client_errors,
              server_errors = held.server_errors + excluded.server_errors, other_statuses = held.other_statuses + excluded.other_statuses,
              no_responses = held.no_responses + excluded.no_responses, dead_letters = held.dead_letters + excluded.dead_letters,
              latencies = add_counts(held.latencies, excluded.latencies)
        )
        select count(*)::int as count from merged`.pipe(decodeCount),

      /** Forgets some outcomes that are older than a number of days; returns how many rows, 0 when all is done. */
      forget: (days: number) =>
        forgetRows(sql, "delivery_outcomes", {
          key: ["endpoint_id", "at", "seconds", "organization_id"],
          where: sql`seconds = 3600 and at < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(at)`,
          orderBy: "at",
          limit: BATCH_SIZE,
        }),

      /** Forgets the hours of the trends of failures that are older than a number of days. */
      forgetTrends: (days: number) =>
        sql`
          delete from failure_group_hours
          where hour < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(hour)`.pipe(
          Effect.asVoid,
        ),
    })
  }),
}) {
  static readonly layer = Layer.effect(DeliveryOutcomes, DeliveryOutcomes.make)
}
