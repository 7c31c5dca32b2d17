import { type LogRange, Replay } from "@outreach/domain/deliveries/Replays"
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

/** The condition that a job's range includes a row of `events`. */
export const inRange = (sql: SqlClient.SqlClient, job: Statement.Fragment) => sql`
  events.organization_id = ${job}.organization_id and emitted_at >= ${job}.from_at and emitted_at < ${job}.before_at
  and (${job}.event_types is null or type = any (${job}.event_types))`
