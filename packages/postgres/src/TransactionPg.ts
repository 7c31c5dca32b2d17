import { Transaction } from "@outreach/domain/Transaction"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "./DatabaseFailure.ts"

/** Opens transactions of PostgreSQL; one inside another is a savepoint of it. */
export const TransactionPg = Layer.effect(
  Transaction,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      run: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        orDieAs("Transaction.run")(sql.withTransaction(effect)) as Effect.Effect<A, E, R>,
    }
  }),
)
