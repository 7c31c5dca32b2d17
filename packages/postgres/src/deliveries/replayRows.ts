import { type LogRange, Replay, type WaitingDeliveries } from "@outreach/domain/deliveries/Replays"
import type { SqlClient, Statement } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"

export const { columns: replayColumns, decode: decodeReplays } = rowsOf(Replay, {
  state:
    "case when cancelled_at is not null then 'cancelled' when finished_at is not null then 'finished' else 'running' end",
  from: "from_at",
  to: "to_at",
})

/** A range of a log up to the current position of the organization's clock. Events that are published later aren't selected, even if their time is earlier. */
export const rangeOf = (sql: SqlClient.SqlClient, { endpointId, from, to, eventTypes }: LogRange) => sql`
  select endpoint.id as endpoint_id, endpoint.organization_id,
    case when ${eventTypes === undefined}::boolean then endpoint.event_types else ${eventTypes ?? null}::text[] end as event_types,
    null::text as group_id, null::int as status, null::text as event_type, null::text as reason,
    ${from}::timestamptz as from_at, ${to}::timestamptz as to_at, ${from}::timestamptz as after_at,
    least(${to}::timestamptz, last + interval '1 microsecond') as before_at, clock_timestamp() as created_at
  from webhook_endpoints endpoint join organization_clock clock on clock.organization_id = endpoint.organization_id
  where endpoint.id = ${endpointId} and removed_at is null`

/** The deliveries that wait for their next attempt now. A later failure is due again after all of these, or has a later attempt. */
export const waitingOf = (sql: SqlClient.SqlClient, { endpointId, groupId }: WaitingDeliveries) => sql`
  select endpoint.id as endpoint_id, endpoint.organization_id, null::text[] as event_types, ${groupId ?? null}::text as group_id,
    null::int as status, null::text as event_type, null::text as reason, null::timestamptz as from_at, null::timestamptz as to_at,
    now as after_at, coalesce(last_due, now) + interval '1 microsecond' as before_at, now as created_at
  from webhook_endpoints endpoint cross join clock_timestamp() as now
  cross join lateral (
    select max(due_at) as last_due from unnest(array[false, true]) as lane_of (is_replay)
    cross join lateral (
      select due_at from deliveries where endpoint_id = endpoint.id and replay = is_replay and owner is null order by due_at desc limit 1
    ) last) last
  where endpoint.id = ${endpointId} and removed_at is null`

/** The condition that a job's range includes a row of `events`. */
export const inRange = (sql: SqlClient.SqlClient, job: Statement.Fragment) => sql`
  events.organization_id = ${job}.organization_id and emitted_at >= ${job}.from_at and emitted_at < ${job}.before_at
  and (${job}.event_types is null or type = any (${job}.event_types))`
