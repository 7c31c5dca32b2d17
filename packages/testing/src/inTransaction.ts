import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Runs an effect in a transaction. */
export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect))
