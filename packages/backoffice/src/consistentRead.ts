import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Effect, Semaphore } from "effect"
import { SqlClient, type SqlConnection } from "effect/sql"

/** Runs a read-only effect as of one moment. Its statements share a connection and run one after another. */
export const consistentRead = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | SqlClient.SqlClient> =>
  SqlClient.SqlClient.use((sql) =>
    sql.transactionService.pipe(
      Effect.flatMap(([connection, depth]) =>
        Effect.provideService(read, sql.transactionService, [oneAfterAnother(connection), depth]),
      ),
      sql.withTransaction,
      Effect.provideService(SqlClient.BeginTransaction, "begin isolation level repeatable read read only"),
      orDieAs("consistentRead"),
    ),
  ) as Effect.Effect<A, E, R | SqlClient.SqlClient>

const oneAfterAnother = (connection: SqlConnection.Connection): SqlConnection.Connection => {
  const alone = Semaphore.makeUnsafe(1).withPermits(1)
  return {
    execute: (...statement) => alone(connection.execute(...statement)),
    executeRaw: (...statement) => alone(connection.executeRaw(...statement)),
    executeValues: (...statement) => alone(connection.executeValues(...statement)),
    executeUnprepared: (...statement) => alone(connection.executeUnprepared(...statement)),
    executeValuesUnprepared: (...statement) => alone(connection.executeValuesUnprepared(...statement)),
    executeStream: (...statement) => connection.executeStream(...statement),
  }
}
