import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "../src/databaseLayer.ts"
import { migrate, migrateWithin, SchemaLocked } from "../src/migrate.ts"
import { whileOpen } from "./whileOpen.ts"

const url = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const other = testDatabase({ name: "empty", sources: [], migrate: async () => {} })

describe("migrate", () => {
  it("runs every migration once, though several processes begin at the same time", async () => {
    const once = () =>
      Effect.runPromise(
        Effect.provide(migrate, databaseLayer({ url: Redacted.make(url()), applicationName: "migrate" })),
      )
    const ran = (await Promise.all([once(), once(), once()])).flat()
    expect(ran.map(([id]) => id).sort((a, b) => a - b)).toEqual(ran.map((_, i) => i + 1))
    expect(ran.length).toBeGreaterThan(0)
    expect(await once()).toEqual([])
  })

  const run = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>, database = url) =>
    Effect.runPromise(
      Effect.provide(effect, databaseLayer({ url: Redacted.make(database()), applicationName: "migrate" })),
    )

  it("says what to do when a table is held by another transaction for too long", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate
        const failure = yield* whileOpen(sql`lock table migrations`, () => Effect.flip(migrateWithin("100ms")))
        expect(failure).toBeInstanceOf(SchemaLocked)
        expect((failure as SchemaLocked).message).toMatch(/changed nothing.*pg_stat_activity.*run the command again/)
        expect(yield* migrate).toEqual([])
      }),
    ))

  it("gives its statements as long as they need", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        // A trigger looks at the limits while the migrations are noted.
        yield* sql`
          create table migrations (
            migration_id integer primary key, created_at timestamptz not null default now(), name text not null)`
        yield* sql`create table limits (statement text, lock text)`
        yield* sql`
          create function note_limits() returns trigger language plpgsql as $$ begin
            insert into limits values (current_setting('statement_timeout'), current_setting('lock_timeout'));
            return new;
          end $$`
        yield* sql`create trigger note_limits before insert on migrations for each row execute function note_limits()`
        yield* migrate
        expect(yield* sql`select distinct * from limits`).toEqual([{ statement: "0", lock: "10s" }])
      }),
      other,
    ))
})
