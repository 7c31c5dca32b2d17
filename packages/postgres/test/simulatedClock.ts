import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll } from "vitest"

/**
 * Puts a clock of the test's own before the server's, for a test file whose database has the given address. The statements stay those of
 * every day. Returns a function that sets the clock.
 */
export const simulatedClock = (url: () => string) => {
  beforeAll(async () => {
    const simulate = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create schema simulated`
      yield* sql`create table simulated.clock (ahead interval not null)`
      yield* sql`insert into simulated.clock values ('0')`
      yield* sql`
        create function simulated.clock_timestamp() returns timestamptz language sql volatile as $$
          select pg_catalog.clock_timestamp() + ahead from simulated.clock
        $$`
      yield* sql`alter table delivered alter column finished_at set default simulated.clock_timestamp()`
      yield* sql`alter table dead_letters alter column finished_at set default simulated.clock_timestamp()`
      yield* sql.unsafe(
        `alter database "${new URL(url()).pathname.slice(1)}" set search_path = simulated, public, pg_catalog`,
      )
    })
    await Effect.runPromise(Effect.provide(simulate, testDatabaseLayer(url())))
  })
  return (now: string) =>
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`update simulated.clock set ahead = ${now}::timestamptz - pg_catalog.clock_timestamp()`,
    )
}
