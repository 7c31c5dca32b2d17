import { Effect } from "effect"
import { reader } from "../adapter.ts"
import { forgetRows, isOld } from "../OldRows.ts"
import { decodeCount } from "../rowsOf.ts"

/** How long outcomes are kept in intervals of five minutes. Older ones are merged by the hour. */
export const FINE_OUTCOMES_DAYS = 2

const BATCH_SIZE = 5000

/** Maintains the outcomes of deliveries, which `write_outcomes` and `recover` count, and the groups of failures. */
export const DeliveryOutcomes = reader("DeliveryOutcomes", (sql) => ({
  /** Merges a batch of outcomes older than `FINE_OUTCOMES_DAYS` by the hour; returns the number of rows, 0 when there are no more. */
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

  /** Deletes a batch of outcomes older than a number of days; returns the number of rows, 0 when there are no more. */
  forget: (days: number) =>
    forgetRows(sql, "delivery_outcomes", {
      key: ["endpoint_id", "at", "seconds", "organization_id"],
      where: sql`seconds = 3600 and ${isOld(sql, "at", days)}`,
      orderBy: "at",
    }),

  /**
   * Closes the groups of failures of endpoints that accept calls again.
   *
   * A group is closed when its last failure is at least two minutes old and the endpoint has accepted more than five times as many
   * calls since then as it accepted between two failures: one call after an outage, two at 80 % failures, 46 at 10 %. This keeps groups from
   * closing by chance. A failure in the future comes from a clock that was wrong, so it counts as past.
   */
  closeGroups: sql`
    with over as materialized (
      select organization_id, id from failure_groups
      where closed_at is null and (last_at > clock_timestamp() + interval '2 minutes'
        or last_at < clock_timestamp() - interval '2 minutes' and (
          select since > 5 * greatest(0, in_episode - since) / greatest(1, failures)
          from (
            select sum(delivered) - delivered_before as in_episode,
              greatest(0, sum(delivered) filter (where at >= date_bin('5 minutes', last_at, 'epoch')) - delivered_then) as since
            from delivery_outcomes
            where endpoint_id = failure_groups.endpoint_id and at >= date_bin('5 minutes', opened_at, 'epoch')
          ) accepted
        ))
      -- Skips groups that another worker updates now.
      order by organization_id, id for update skip locked
    )
    update failure_groups set closed_at = clock_timestamp() from over
    where failure_groups.organization_id = over.organization_id and failure_groups.id = over.id`.pipe(Effect.asVoid),

  /**
   * Deletes a batch of groups of failures that haven't failed for a number of days and have no dead letters: no stored response contains their
   * lines any more. Returns the number, 0 when there are no more.
   */
  forgetGroups: (days: number) =>
    forgetRows(sql, "failure_groups", {
      key: ["organization_id", "id"],
      where: sql`stored <= 0 and ${isOld(sql, "last_at", days)}`,
      orderBy: "last_at",
    }),
}))
