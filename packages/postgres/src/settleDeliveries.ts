import type { Attempt, DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import type { Settlement } from "@outreach/domain/deliveries/DeliveryQueue"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** What came of a lease. */
export interface Settling {
  readonly lease: Pick<DeliveryLease, "organizationId" | "id" | "leaseToken">
  readonly attempt: Attempt
  readonly settlement: Settlement
}

/** Failures in a row, for now, from which on an endpoint is only probed. */
const FAILURES_TO_PROBE = 5
/** The longest wait between two probes, in seconds. */
const LONGEST_PROBE_WAIT = 10
/** From this many calls in flight on, a recovering endpoint is as any other. */
const RECOVERED_ALLOWANCE = 16

/** Makes the function that writes what came of many leases in one statement; answers which of them were still held. */
export const settleDeliveries =
  (sql: SqlClient.SqlClient) =>
  (settlings: ReadonlyArray<Settling>): Effect.Effect<ReadonlyArray<boolean>, SqlError.SqlError> => {
    const outcomes = settlings.map(({ lease, attempt, settlement }, i) => ({
      i,
      organization_id: lease.organizationId,
      id: lease.id,
      lease_token: lease.leaseToken,
      state: settlement.state,
      delay: settlement.state === "retry" ? settlement.delaySeconds : null,
      attempt,
    }))
    return sql<{ i: number }>`
      with outcome as materialized (
        select * from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb)
          as outcome (i int, organization_id text, id text, lease_token uuid, state text, delay double precision, attempt jsonb)
      ), held as materialized (
        -- Found one by one through the primary key, however few rows the planner takes the queue to have.
        select outcome.*, delivery.* from outcome cross join lateral (
          select ctid as place, endpoint_id, event_id, created_at, lost_leases from deliveries
          where organization_id = outcome.organization_id and id = outcome.id and lease_token = outcome.lease_token
          offset 0
        ) delivery
      ), retried as (
        update deliveries delivery set attempts = (attempt->>'number')::int, lease_token = null, lease_until = null, lost_leases = 0,
          due_at = clock_timestamp() + make_interval(secs => delay)
        from held where state = 'retry' and delivery.ctid = place and delivery.lease_token = held.lease_token
        returning i, delivery.organization_id, delivery.id, held.endpoint_id, state, attempt
      ), noted as (
        insert into delivery_attempts (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
        select organization_id, id, (attempt->>'number')::int, (attempt->>'startedAt')::timestamptz,
          (attempt->>'latencyMs')::int, (attempt->>'status')::int, attempt->>'outcome', attempt->>'response'
        from retried
      ), finished as (
        delete from deliveries delivery using held
        where state <> 'retry' and delivery.ctid = place and delivery.lease_token = held.lease_token
        returning i, held.organization_id, held.id, held.endpoint_id, held.event_id, held.created_at, held.lost_leases, state,
          attempt
      ), earlier as (
        delete from delivery_attempts made using finished
        where made.organization_id = finished.organization_id and made.delivery_id = finished.id
          and ((attempt->>'number')::int > 1 or lost_leases > 0)
        returning made.*
      ), history as (
        select finished.*, coalesce((
            select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at) from earlier
            where earlier.organization_id = finished.organization_id and earlier.delivery_id = finished.id
          ), '[]') || attempt as attempts
        from finished
      ), kept as (
        insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
        select organization_id, id, endpoint_id, event_id, attempts, created_at from history where state = 'delivered'
      ), dead as (
        insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, created_at)
        select organization_id, id, endpoint_id, event_id, state, attempts, created_at from history where state <> 'delivered'
      ), settled as (
        select i, endpoint_id, state from retried union all select i, endpoint_id, state from finished
      ), verdict as (
        select endpoint_id, bool_or(state in ('delivered', 'rejected')) as answered, count(*) as calls
        from settled group by endpoint_id order by endpoint_id
      ), failing as (
        insert into endpoint_breakers as breaker (endpoint_id, failures, allowance, probe_at)
        select endpoint_id, least(calls, ${FAILURES_TO_PROBE}::int), case when calls >= ${FAILURES_TO_PROBE}::int then 1 end,
          clock_timestamp() + make_interval(secs =>
            probe_wait(least(calls, ${FAILURES_TO_PROBE}::int) - ${FAILURES_TO_PROBE}::int, ${LONGEST_PROBE_WAIT}::int))
        from verdict where not answered
        on conflict (endpoint_id) do update set
          failures = least(breaker.failures + excluded.failures, greatest(breaker.failures + 1, ${FAILURES_TO_PROBE}::int)),
          allowance = case
            when breaker.allowance is not null or breaker.failures + excluded.failures >= ${FAILURES_TO_PROBE}::int then 1 end,
          probe_at = clock_timestamp() + make_interval(secs => probe_wait(
            least(breaker.failures + excluded.failures, greatest(breaker.failures + 1, ${FAILURES_TO_PROBE}::int))
              - ${FAILURES_TO_PROBE}::int, ${LONGEST_PROBE_WAIT}::int))
        -- What fails while a probe is waited for was sent before: it says nothing new.
        where breaker.allowance is null or breaker.probe_at <= clock_timestamp()
      ), opening as (
        update endpoint_breakers breaker set failures = 0, allowance = allowance * 2, probe_at = clock_timestamp()
        from verdict
        where breaker.endpoint_id = verdict.endpoint_id and answered and allowance * 2 < ${RECOVERED_ALLOWANCE}::int
      ), open as (
        delete from endpoint_breakers breaker using verdict
        where breaker.endpoint_id = verdict.endpoint_id and answered
          and coalesce(allowance * 2 >= ${RECOVERED_ALLOWANCE}::int, true)
      )
      select i from settled`.pipe(
      Effect.map((rows) => {
        const held = new Set(rows.map(({ i }) => i))
        return settlings.map((_, i) => held.has(i))
      }),
    )
  }
