import { Effect, Schema } from "effect"
import { DatabaseService } from "../adapter.ts"
import { forgetRows } from "../forgetRows.ts"
import { decodeValue } from "../rowsOf.ts"

/** For how long outcomes are kept by five minutes. After that they are kept by the hour. */
export const FINE_OUTCOMES_DAYS = 2

const BATCH_SIZE = 5000

const decodeCount = decodeValue({ count: Schema.Int })

/** Keeps the outcomes of deliveries, which `write_progress` and `recover` count, and the groups of failures. */
export class DeliveryOutcomes extends DatabaseService<DeliveryOutcomes>()(
  "postgres/deliveries/DeliveryOutcomes",
  (sql) => ({
    /** Merges some outcomes that are older than `FINE_OUTCOMES_DAYS` by the hour; returns how many rows, 0 when all is done. */
    merge: sql`
        with old as materialized (
          select ctid as row_ctid from delivery_outcomes
          where seconds = 300 and at < date_trunc('hour', plausible_now() - make_interval(days => ${FINE_OUTCOMES_DAYS}::int), 'UTC')
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

    /**
     * Closes the groups of failures whose endpoints accept calls again.
     *
     * A group is quiet when its last failure was two minutes ago. It is over when the endpoint has accepted more than five times as many
     * calls since as it accepted between two failures: one call after an outage, two where 80 % failed, 46 where 10 % did. By chance that
     * is rare. A failure in the future is one of a clock that was wrong: nothing can follow it.
     */
    closeGroups: sql`
      with over as materialized (
        select organization_id, id from failure_groups
        where closed_at is null and (last_at > clock_timestamp() + interval '2 minutes'
          or last_at < clock_timestamp() - interval '2 minutes' and (
            select since.delivered > 5 * greatest(0, episode.delivered - delivered_before - since.delivered) / greatest(1, failures)
            from outcomes_since(endpoint_id, opened_at) episode
            cross join (select greatest(0, delivered - delivered_then) as delivered from outcomes_since(endpoint_id, last_at)) since
          ))
        -- One that fails at this moment is left to its worker.
        order by organization_id, id for update skip locked
      )
      update failure_groups set closed_at = clock_timestamp() from over
      where failure_groups.organization_id = over.organization_id and failure_groups.id = over.id`.pipe(Effect.asVoid),

    /**
     * Forgets the hours of groups of failures that are older than a number of days, and the groups that have not failed since and have no
     * dead letters: no response is kept any more that had their lines.
     */
    forgetGroups: (days: number) =>
      sql`
          with age as materialized (
            select plausible_now() - make_interval(days => ${days}::int) as before
          ), over as materialized (
            select organization_id, id from failure_groups
            where stored <= 0 and last_at < (select before from age) and not is_doubtful(last_at)
            order by organization_id, id for update skip locked
          ), forgotten as (
            delete from failure_group_hours
            where (organization_id, group_id) in (select organization_id, id from over)
              or hour < (select before from age) and not is_doubtful(hour)
            returning 1
          )
          delete from failure_groups
          where (organization_id, id) in (select organization_id, id from over) and (select count(*) from forgotten) >= 0`.pipe(
        Effect.asVoid,
      ),
  }),
) {}
