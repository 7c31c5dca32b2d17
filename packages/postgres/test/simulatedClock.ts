import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll } from "vitest"

/**
 * Replaces the database's clock with a simulated one for a test file. The tested statements don't change. Returns a function that
 * sets the clock and the last trusted time, and resets the daily limit for dropped partitions.
 */
export const simulatedClock = (url: () => string) => {
  beforeAll(async () => {
    const simulate = Effect.gen(function* () {
      yield* sql`create schema simulated`
      yield* sql`create table simulated.clock (ahead interval not null)`
      yield* sql`insert into simulated.clock values ('0')`
      yield* sql`
        create function simulated.clock_timestamp() returns timestamptz language sql volatile as $$
          select pg_catalog.clock_timestamp() + ahead from simulated.clock
        $$`
      yield* sql`grant usage on schema simulated to public`
      yield* sql`grant select on simulated.clock to public`
      yield* sql`alter table delivered alter column finished_at set default simulated.clock_timestamp()`
      yield* sql`alter table dead_letters alter column finished_at set default simulated.clock_timestamp()`
      // These functions set a custom search path.
      for (const name of ["keep_partitions", "watch_clock"]) {
        yield* sql.unsafe(`alter function ${name} set search_path = simulated, public, pg_catalog, pg_temp`)
      }
      yield* sql.unsafe(
        `alter database "${new URL(url()).pathname.slice(1)}" set search_path = simulated, public, pg_catalog`,
      )
    })
    await Effect.runPromise(Effect.provide(simulate, testDatabaseLayer(url())))
  })
  return Effect.fnUntraced(function* (now: string) {
    yield* stepClock(now)
    yield* sql`update clock_watch set believed_at = ${now}::timestamptz`
    yield* sql`update retention_limits set dropped_on = null, min_keep = 1`
  })
}

/** Sets the clock like a fault would, without making it trusted. */
export const stepClock = Effect.fnUntraced(function* (now: string) {
  yield* sql`update simulated.clock set ahead = ${now}::timestamptz - pg_catalog.clock_timestamp()`
})
