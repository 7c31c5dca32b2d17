import type { DeadLetterFilter, PurgeFilter } from "@outreach/domain/deliveries/DeadLetters"
import type { SqlClient, Statement } from "effect/sql"
import { allOf, equal, literal } from "../rowsOf.ts"

/**
 * Creates the condition that a filter selects a row of `dead_letters`, named `dead` in the statement. The event type isn't checked.
 *
 * Unused conditions are left out. With a generic plan the query would read 100,000 dead letters to find those of a small group.
 */
export const isDeadLetterOf = (sql: SqlClient.SqlClient, filter: DeadLetterFilter, dead = "dead") => {
  const { organizationId, groupId, status, endpointId, reason, from, to } = filter
  return allOf(
    equal({
      [`${dead}.organization_id`]: organizationId,
      [`${dead}.group_id`]: groupId,
      [`${dead}.endpoint_id`]: endpointId,
      [`${dead}.reason`]: reason,
    }),
    // There are few groups. The scalar subselect runs once, and dead letters are read in order until enough are found.
    status === undefined
      ? undefined
      : sql`group_id = any (array(select id from failure_groups where status = ${status}::int))`,
    from && sql`finished_at >= ${from}::timestamptz`,
    to && sql`finished_at < ${to}::timestamptz`,
  )
}

/** Creates the condition that a purge selects a row of `dead_letters`. */
export const isPurged = (sql: SqlClient.SqlClient, { keepsDoubtful, type, ...filter }: PurgeFilter) =>
  allOf(
    isDeadLetterOf(sql, filter),
    keepsDoubtful === true ? sql`not is_doubtful(dead.finished_at)` : undefined,
    type === undefined
      ? undefined
      : sql`exists (
          select from events where organization_id = dead.organization_id and id = dead.event_id and type = ${type})`,
  )

/** Creates the condition that a job selects a row of `dead_letters`, regardless of its time. */
export const selectsDeadLetter = (sql: SqlClient.SqlClient, job: Statement.Fragment, dead: Statement.Fragment) => sql`
  (${job}.organization_id is null or ${dead}.organization_id = ${job}.organization_id)
  and (${job}.endpoint_id is null or ${dead}.endpoint_id = ${job}.endpoint_id)
  and (${job}.reason is null or ${dead}.reason = ${job}.reason)
  and (${job}.group_id is null or ${dead}.group_id = ${job}.group_id)
  and (${job}.status is null or exists (
    select from failure_groups
    where id = ${dead}.group_id and organization_id = ${dead}.organization_id and status = ${job}.status))
  and (${job}.event_type is null or exists (
    select from events
    where organization_id = ${dead}.organization_id and id = ${dead}.event_id and type = ${job}.event_type))`

/** Counts changes of dead letters in their groups, as part `grouped` of the statement that made them. `rows` is the part with the dead letters. */
export const countInGroups = (rows: string, { opened, stored }: { readonly opened: string; readonly stored: string }) =>
  literal(`
    grouped as materialized (
      select count_failures(jsonb_agg(change)) from (
        select organization_id, group_id, finished_at as at, reason, ${opened} as opened, ${stored} as stored from ${rows}
      ) change
    )`)
