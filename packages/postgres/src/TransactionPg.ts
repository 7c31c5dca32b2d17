import { Transaction, TransactionRejected } from "@outreach/domain/Transaction"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseFailure, orDieAs, transientFailure } from "./DatabaseFailure.ts"
import { commitTimestamp } from "./events/commitTimestamp.ts"

/** Opens PostgreSQL transactions; a nested one is a savepoint. */
export const TransactionPg = Layer.effect(
  Transaction,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const route = yield* DatabaseRoute
    const run = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      orDieAs("Transaction.run")(sql.withTransaction(effect)) as Effect.Effect<A, E, R>
    return {
      run,

      // An adapter's failed statement is a defect. This is the only place that turns it back into an error.
      attempt: (effect) =>
        Effect.catchDefect(run(effect), (defect) =>
          defect instanceof DatabaseFailure && !defect.transient
            ? Effect.fail(new TransactionRejected({ reason: defect.reason }))
            : Effect.die(defect),
        ),

      retryTransient: (effect, times) =>
        Effect.sandbox(effect).pipe(
          Effect.retry({
            while: (cause) => transientFailure(cause) !== undefined,
            schedule: Schedule.spaced("500 millis"),
            times,
          }),
          Effect.catch(Effect.failCause),
        ),

      commitTimestamp: (organizationId) =>
        commitTimestamp(organizationId).pipe(
          Effect.provideService(SqlClient.SqlClient, sql),
          Effect.provideService(DatabaseRoute, route),
          orDieAs("Transaction.commitTimestamp"),
        ),
    }
  }),
)
