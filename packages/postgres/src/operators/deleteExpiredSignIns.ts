import { SESSION_IDLE_SECONDS } from "@outreach/domain/operators/Operator"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** The most rows of each table that one call deletes. */
const MAX_DELETED = 1000

/** Creates the condition that a row of `sign_in_links` can be used. */
export const isUsableLink = (sql: SqlClient.SqlClient) =>
  sql.literal("expires_at > statement_timestamp() and not (once and used_at is not null)")

/** Creates the condition that a row of `operator_sessions` is open. */
export const isOpenSession = (sql: SqlClient.SqlClient) => sql`expires_at > statement_timestamp()
  and last_used_at > statement_timestamp() - make_interval(secs => ${SESSION_IDLE_SECONDS}::double precision)`

/** Deletes operators' sign-in links and sessions that are over, some of each. */
export const deleteExpiredSignIns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    with over as materialized (select hash from sign_in_links where not (${isUsableLink(sql)}) and plausible_now() is not null limit ${MAX_DELETED})
    delete from sign_in_links link using over where link.hash = over.hash`
  yield* sql`
    with over as materialized (select hash from operator_sessions where not (${isOpenSession(sql)}) and plausible_now() is not null limit ${MAX_DELETED})
    delete from operator_sessions session using over where session.hash = over.hash`
}).pipe(orDieAs("deleteExpiredSignIns"))
