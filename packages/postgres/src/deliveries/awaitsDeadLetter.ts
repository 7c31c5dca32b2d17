import type { SqlClient, Statement } from "effect/sql"

/** Creates the condition that a row of `replay_jobs` runs and is yet to replay a row of `dead_letters`. */
export const awaitsDeadLetter = (sql: SqlClient.SqlClient, job: Statement.Fragment, dead: Statement.Fragment) => sql`
  ${job}.kind = 'dead_letters' and ${job}.finished_at is null and ${job}.cancelled_at is null
  and (${dead}.finished_at, ${dead}.id) > (${job}.after_at, ${job}.after_id) and ${dead}.finished_at < ${job}.before_at
  and ${selectsDeadLetter(sql, job, dead)}`

/** Creates the condition that a row of `dead_letters` fulfils what a job selects by, whatever its time. */
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
