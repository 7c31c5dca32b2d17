import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"

export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect))

/** Runs `during` while a transaction that ran `first` is open, then commits it. */
export const whileOpen = Effect.fnUntraced(function* <A, E1, R1, B, E2, R2>(
  first: Effect.Effect<A, E1, R1>,
  during: (result: A) => Effect.Effect<B, E2, R2>,
) {
  const done = yield* Deferred.make<A, E1>()
  const over = yield* Deferred.make<void>()
  const sql = yield* SqlClient.SqlClient
  // On a busy machine it can be open for longer than the service allows its transactions.
  const stayOpen = sql`set local idle_in_transaction_session_timeout = 0`
  const holder = yield* Effect.forkChild(
    inTransaction(Effect.all([stayOpen, Deferred.into(first, done), Deferred.await(over)])),
  )
  const result = yield* Effect.flatMap(Deferred.await(done), during).pipe(
    Effect.ensuring(Deferred.succeed(over, undefined)),
  )
  yield* Fiber.join(holder)
  return result
})
