import type { Timestamp } from "@outreach/domain/Timestamp"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Gives a database a clock that stands still until it is moved: in every connection that is opened from now on, `clock_timestamp()` of
 * a statement or a function is this one. It begins far ahead, since nothing may be older than what the real clock has stamped.
 */
export const simulateClock = (databaseUrl: string): Promise<void> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`create schema simulated`
    yield* sql`create table simulated.clock as select timestamptz '2100-01-01T00:00:00Z' as at`
    yield* sql`
      create function simulated.clock_timestamp() returns timestamptz language sql volatile as 'select at from simulated.clock'`
    // Named before pg_catalog, it is found before it.
    yield* sql`
      do $$ begin
        execute format('alter database %I set search_path = simulated, pg_catalog, public', current_database());
      end $$`
  }).pipe(Effect.provide(adaptersFor(databaseUrl)), Effect.runPromise)

/** Moves the simulated clock on by seconds, or back by as many below 0, and lets the workers know; answers what it says then. */
export const moveClock = Effect.fnUntraced(function* (seconds: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ at: Timestamp }>`
    update simulated.clock set at = at + make_interval(secs => ${seconds}::double precision) returning at`
  yield* sql`select pg_notify('hints', 'due')`
  return rows[0]!.at
})
