import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Reports whether the database answers a statement within two seconds. */
export const databaseAnswers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`select`.pipe(
    Effect.as(true),
    Effect.timeout("2 seconds"),
    Effect.orElseSucceed(() => false),
  )
})
