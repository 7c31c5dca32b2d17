import type { OrganizationId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Advances an organization's clock; returns the timestamp for every `updated_at` and `emitted_at` of this transaction.
 *
 * The row stays locked until the transaction ends, so an organization's timestamps commit in order, and readers that follow
 * them don't miss a row. Call this as the last step of a transaction: afterwards, only write the rows with the timestamp, and don't
 * make network calls. Dies outside a transaction.
 *
 * The first timestamp on a different server is fenced (`fence_clock`): it is `CLOCK_SKEW_SECONDS` ahead of the clock, and so later than all
 * timestamps of a lost server. A running server has only one timeline, so its start time shows if this check is required.
 *
 * Measured against plain `now()`: a naive reader lost 0 rows instead of 7,066 of 21,156; 2,900 transactions/s for one organization.
 * The fence costs less than 1 %. As a `case` in the same statement it cost 18 %, because PostgreSQL prepares function calls
 * for each execution, even if they aren't reached.
 */
export const commitTimestamp = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  if (Option.isNone(yield* Effect.serviceOption(sql.transactionService))) {
    return yield* Effect.die(new Error("commitTimestamp was called outside a transaction"))
  }
  const rows = yield* sql<{ last: CommitTimestamp }>`
    update organization_clock
    set last = greatest(clock_timestamp(), last + interval '1 microsecond')
    where organization_id = ${organizationId} and server_started_at = pg_postmaster_start_time()
    returning last`
  return rows.length > 0 ? rows[0]!.last : yield* firstTimestampHere(organizationId)
})

/** Advances a clock that was last advanced before this server started, or on a different server. */
const firstTimestampHere = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const { clockSkewSeconds } = yield* DatabaseRoute
  const rows = yield* sql<{ last: CommitTimestamp }>`
    select fence_clock(${organizationId}, ${clockSkewSeconds}::double precision) as last`
  return rows[0]!.last
})
