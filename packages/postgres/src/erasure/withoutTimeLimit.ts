import { LIFT_TIME_LIMIT } from "@outreach/postgres-connection/sessionSettings"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** Reads without the usual time limit, because a partner's whole inbox takes longer. The limit is lifted for a transaction. */
export const withoutTimeLimit =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(read: Effect.Effect<A, E, R>) =>
    sql.withTransaction(Effect.andThen(sql.unsafe(LIFT_TIME_LIMIT), read))
