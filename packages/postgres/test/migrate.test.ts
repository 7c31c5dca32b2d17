import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Deferred, Effect, Fiber, type Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "../src/databaseLayer.ts"
import { migrate, migrations } from "../src/migrate.ts"
import { type Migration, runMigrations, SchemaLocked } from "../src/runMigrations.ts"
import { whileOpen } from "./whileOpen.ts"

const url = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const other = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const growing = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const interrupted = testDatabase({ name: "empty", sources: [], migrate: async () => {} })

const changes = (statements: (sql: SqlClient.SqlClient) => ReadonlyArray<Effect.Effect<unknown, unknown>>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.all(statements(sql), { discard: true }))

const things = {
  "0001_things": changes((sql) => [
    sql`create table things (id int)`,
    sql`insert into things values (1)`,
    // Fails the build of an index that has a limit.
    sql`
      create function without_limits(id int) returns int immutable language plpgsql as $$ begin
        if current_setting('lock_timeout') <> '0' or current_setting('statement_timeout') <> '0' then
          raise exception 'limited';
        end if;
        return id;
      end $$`,
  ]),
} satisfies Record<string, Migration>
const indexed = {
  ...things,
  "0002_things_id": { index: "things_id", on: "things (without_limits(id)) where id > 0" },
  "0003_things_name": changes((sql) => [sql`alter table things add name text`]),
} satisfies Record<string, Migration>

const state = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const recorded = yield* sql<{ id: number }>`select migration_id as id from migrations order by 1`
  const indexes = yield* sql<{ valid: boolean }>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass('things_id')`
  return { recorded: recorded.map(({ id }) => id), valid: indexes.map(({ valid }) => valid) }
})

/** Begins to build the index while another transaction has written to its table, and goes on when it waits for that one. */
const whileBuilding = <A, E, R>(
  during: (
    building: Fiber.Fiber<Effect.Success<ReturnType<typeof runMigrations>>, unknown>,
    sentence: string,
    pid: number,
  ) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const write = Effect.map(
      sql<{ pid: number }>`insert into things values (2) returning pg_backend_pid() as pid`,
      ([row]) => row!.pid,
    )
    return yield* whileOpen(
      write,
      Effect.fnUntraced(function* (pid) {
        const waits = yield* Deferred.make<string>()
        const report = (sentence: string) => Effect.asVoid(Deferred.succeed(waits, sentence))
        const building = yield* Effect.forkDetach(runMigrations(indexed, { report }))
        return yield* during(building, yield* Deferred.await(waits), pid)
      }),
    )
  })

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

  const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof databaseLayer>>>, database = url) =>
    Effect.runPromise(
      Effect.provide(effect, databaseLayer({ url: Redacted.make(database()), applicationName: "migrate" })),
    )

  it("says what to do when a table is held by another transaction for too long", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* migrate
        const failure = yield* whileOpen(sql`lock table migrations`, () =>
          Effect.flip(runMigrations(migrations, { lockTimeout: "100ms" })),
        )
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

  it("has migrations numbered without a gap", () => {
    const numbers = Object.keys(migrations).map((name) => Number.parseInt(name, 10))
    expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  })

  it("builds an index while its table is written to, and waits for a transaction that is open", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* runMigrations(things)
        const [first, second] = yield* whileBuilding(
          Effect.fnUntraced(function* (building, sentence, pid) {
            expect(sentence).toContain(
              `The index things_id waits for the transaction of process ${pid} (migrate, since `,
            )
            yield* sql`insert into things values (3)`
            expect(yield* state).toEqual({ recorded: [1], valid: [false] })
            // Another process waits, and the build must not wait for it.
            const other = yield* Effect.forkDetach(runMigrations(indexed))
            const waiting = sql`
              select from pg_stat_activity where datname = current_database() and query like 'select pg%advisory_lock%'
                and pid <> pg_backend_pid()`
            yield* Effect.repeat(waiting, { while: ({ length }) => length === 0 })
            return [building, other]
          }),
        )
        expect(yield* Fiber.join(first!)).toEqual([
          [2, "things_id"],
          [3, "things_name"],
        ])
        expect(yield* Fiber.join(second!)).toEqual([])
        expect(yield* state).toEqual({ recorded: [1, 2, 3], valid: [true] })
      }),
      growing,
    ))

  it("builds an index again whose build was cut off", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* runMigrations(things)
        yield* whileBuilding(
          Effect.fnUntraced(function* (building) {
            yield* sql`
              select pg_terminate_backend(pid) from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid() and query like 'create index concurrently%'`
            yield* Effect.flip(Fiber.join(building))
            expect(yield* state).toEqual({ recorded: [1], valid: [false] })
          }),
        )
        expect(yield* runMigrations(indexed)).toHaveLength(2)
        expect(yield* state).toEqual({ recorded: [1, 2, 3], valid: [true] })
      }),
      interrupted,
    ))
})
