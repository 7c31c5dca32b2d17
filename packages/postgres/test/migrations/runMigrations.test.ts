import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { runMigrations, SchemaLocked } from "@outreach/postgres/migrations/runMigrations"
import { readSqlFiles } from "@outreach/postgres/readSqlFiles"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { effectTest } from "@outreach/testing/runWith"
import { inTransaction, sql, whileOpen } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Deferred, Effect, Fiber, type Layer } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"

/** Returns a function that writes the SQL files of a release to a temporary folder. The folders are deleted after the tests. */
const sqlFolders = (): ((files: Readonly<Record<string, string>>) => Promise<URL>) => {
  const root = temporaryFolder("sql", afterAll)
  let releases = 0
  return async (files) => {
    releases += 1
    const folder = join(root, String(releases))
    for (const kind of ["migrations", "functions"]) await mkdir(join(folder, kind), { recursive: true })
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)
    return pathToFileURL(`${folder}/`)
  }
}

const url = testDatabase({ name: "empty", migrate: async () => {} })
const writeSql = sqlFolders()

// Each test uses new connections, because cached plans become invalid with their tables.
const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof testDatabaseLayer>>>) =>
  Effect.runPromise(Effect.provide(effect, testDatabaseLayer(url())))
const test = effectTest(run)

beforeEach(() => run(Effect.andThen(sql.unsafe("drop schema public cascade"), sql.unsafe("create schema public"))))

/** Migrates with the files of a release; returns the applied files. */
const release = (files: Readonly<Record<string, string>>, options: Parameters<typeof runMigrations>[0] = {}) =>
  Effect.flatMap(
    Effect.promise(() => writeSql(files)),
    (folder) => runMigrations({ folder, report: () => Effect.void, ...options }),
  )
const recorded = Effect.map(sql.unsafe<{ file: string }>("select file from migrations order by file"), (rows) =>
  rows.map(({ file }) => file),
)

describe("migrate", () => {
  it("applies every file once, even if several processes start at the same time", async () => {
    const { migrations, functions } = await Effect.runPromise(readSqlFiles(new URL("../../sql/", import.meta.url)))
    const ran = await Promise.all([run(runMigrations()), run(runMigrations()), run(runMigrations())])
    expect(ran.flat()).toEqual([...migrations, ...functions].map(({ file }) => file))
    expect(await run(runMigrations())).toEqual([])
    const numbers = migrations.map(({ name }) => /^(\d{4})_\w+$/.exec(name)?.[1])
    expect(numbers).toEqual(numbers.map((_, i) => String(i + 1).padStart(4, "0")))
    // Each file creates only the function with its name.
    expect(
      await run(
        sql.unsafe("select proname as name from pg_proc where pronamespace = 'public'::regnamespace order by 1"),
      ),
    ).toEqual(functions.map(({ name }) => ({ name })))
  })

  test("returns advice if a transaction locks a table for too long", function* () {
    yield* release({})
    const failure = yield* whileOpen(sql.unsafe("lock table migrations"), () =>
      Effect.flip(release({}, { giveUpAfter: "100 millis" })),
    )
    expect(failure).toBeInstanceOf(SchemaLocked)
    expect(failure.message).toMatch(/rolled back.*pg_stat_activity.*run the command again/)
    expect(yield* release({})).toEqual([])
  })

  test("runs its statements without a time limit", function* () {
    yield* release({
      "migrations/0001_limits.sql": `create table limits as
        select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock;`,
    })
    expect(yield* sql.unsafe("select * from limits")).toEqual([{ statement: "0", lock: "300ms" }])
  })

  test("rolls back all files and names the failed one if the database rejects it", function* () {
    const failure = yield* Effect.flip(
      release({
        "migrations/0001_things.sql": "create table things (id int);",
        "migrations/0002_more.sql": "create table more (id int); create table things (id int);",
        "functions/one.sql": "create function one() returns int language sql as 'select 1'",
      }),
    )
    expect(failure.message).toMatch(/^The database rejected migrations\/0002_more.sql \(SQLSTATE 42P07\)/)
    expect(yield* recorded).toEqual([])
    expect(yield* sql.unsafe("select to_regclass('things') is null and to_regproc('one') is null as clean")).toEqual([
      { clean: true },
    ])
  })
})

const tables = { "migrations/0001_tables.sql": "create table a (id int); create table b (id int);" }
const column = (table: string) => `alter table ${table} add column name text;`
for (const [title, migrations] of [
  ["of one file", { "migrations/0002_both.sql": `${column("a")} ${column("b")}` }],
  ["of two files", { "migrations/0002_a.sql": column("a"), "migrations/0003_b.sql": column("b") }],
  [
    "from two files with separate transactions",
    {
      "migrations/0002_a.sql": column("a"),
      "migrations/0003_b.sql": `-- In a transaction of its own.\n${column("b")}`,
    },
  ],
] as const) {
  test(`a transaction that locks a table and then reads a second one isn't blocked by the locks ${title}, and neither of the two fails`, function* () {
    yield* release(tables)
    const migration = yield* inTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe("insert into b values (1)")
        const migration = yield* Effect.forkDetach(Effect.result(release({ ...tables, ...migrations })))
        const waiting = sql.unsafe("select from pg_locks where relation = 'b'::regclass and not granted")
        yield* Effect.repeat(waiting, { while: ({ length }) => length === 0 })
        // PostgreSQL checks for a deadlock only once, and misses the migration between two attempts.
        yield* sql.unsafe("set local deadlock_timeout = '1h'")
        expect(yield* sql.unsafe("select * from a")).toEqual([])
        return migration
      }),
    )
    expect(yield* Fiber.join(migration)).toMatchObject({ success: Object.keys(migrations) })
  })
}

describe("a function", () => {
  const things = { "migrations/0001_things.sql": "create table things (id int default next_id());" }
  const nextId = (id: number) => ({
    "functions/next_id.sql": `create or replace function next_id() returns int language sql as 'select ${id}';`,
  })
  const find = (signature: string) => ({
    "functions/find.sql": `create or replace function find${signature} language sql as 'select id from things where id = $1';`,
  })
  test("is created again if its text changed, while a table's default calls it", function* () {
    expect(yield* release({ ...things, ...nextId(1) })).toHaveLength(2)
    expect(yield* release({ ...things, ...nextId(1) })).toEqual([])
    expect(yield* release({ ...things, ...nextId(2) })).toEqual(["functions/next_id.sql"])
    expect(yield* sql.unsafe("insert into things default values returning id")).toEqual([{ id: 2 }])
    // A return to an earlier text is also a change.
    expect(yield* release({ ...things, ...nextId(1) })).toEqual(["functions/next_id.sql"])
  })

  test("can't change its result, because the last release still calls it", function* () {
    yield* release({ ...things, ...nextId(1), ...find("(wanted int) returns setof int") })
    const failure = yield* Effect.flip(release({ ...things, ...nextId(1), ...find("(wanted int) returns int") }))
    expect(failure.message).toMatch(/^The database rejected functions\/find.sql \(SQLSTATE 42P13\)/)
  })

  test("may change together with the tables that it reads", function* () {
    yield* release({ ...things, ...nextId(1) })
    const ran = yield* release({
      ...things,
      ...nextId(1),
      "migrations/0002_named.sql": "alter table things add name text; update things set name = name_of(id);",
      "functions/name_of.sql":
        "create or replace function name_of(id int) returns text language sql as 'select max(name) from things';",
    })
    expect(ran).toEqual(["migrations/0002_named.sql", "functions/name_of.sql"])
  })

  test("is dropped if its file is gone; other functions aren't", function* () {
    yield* sql.unsafe("create function theirs() returns int language sql as 'select 1'")
    yield* release({ ...things, ...nextId(1), ...find("(wanted int) returns setof int") })
    expect(yield* release({ ...things, ...nextId(1) })).toEqual([])
    expect(yield* recorded).toEqual(["functions/next_id.sql", "migrations/0001_things.sql"])
    expect(
      yield* sql.unsafe("select proname as name from pg_proc where pronamespace = 'public'::regnamespace order by 1"),
    ).toEqual([{ name: "next_id" }, { name: "theirs" }])
  })

  test("isn't changed when an older release migrates a database that a newer one has migrated", function* () {
    const more = { "migrations/0002_more.sql": "create table more (id int);" }
    yield* release({ ...things, ...more, ...nextId(2), ...find("(wanted int) returns setof int") })
    const messages: Array<string> = []
    const report = (message: string) => Effect.sync(() => messages.push(message)).pipe(Effect.asVoid)
    expect(yield* release({ ...things, ...nextId(1) }, { report })).toEqual([])
    expect(messages).toEqual(["A newer release has migrated this database; nothing was changed."])
    expect(yield* sql.unsafe("select next_id() as id, to_regproc('find') is not null as kept")).toEqual([
      { id: 2, kept: true },
    ])
  })
})

describe("an index that is built concurrently", () => {
  const things = {
    "migrations/0001_things.sql": "create table things (id int); insert into things values (1);",
    // Makes the index build fail if there is a statement time limit.
    "functions/without_limits.sql": `create or replace function without_limits(id int) returns int immutable language plpgsql as $$
      begin
        if current_setting('lock_timeout') <> '0' or current_setting('statement_timeout') <> '0' then
          raise exception 'limited';
        end if;
        return id;
      end $$;`,
  }
  const indexed = {
    ...things,
    "migrations/0002_things_id.sql":
      "-- Finds things.\ncreate index concurrently things_id on things (without_limits(id)) where id > 0;\n",
    "migrations/0003_things_name.sql": "alter table things add name text;",
  }
  const [ONE, TWO, THREE] = Object.keys(indexed).filter((file) => file.startsWith("migrations/"))
  const state = Effect.gen(function* () {
    const files = (yield* recorded).filter((file) => file.startsWith("migrations/"))
    const indexes = yield* sql.unsafe<{ valid: boolean }>(
      "select indisvalid as valid from pg_index where indexrelid = to_regclass('things_id')",
    )
    return { files, valid: indexes.map(({ valid }) => valid) }
  })

  /** Starts the index build while a transaction has written to its table, and runs the effect when the build waits for it. */
  const whileBuilding = <A, E, R>(
    during: (
      building: Fiber.Fiber<Effect.Success<ReturnType<typeof release>>, unknown>,
      message: string,
      pid: number,
    ) => Effect.Effect<A, E, R>,
  ) =>
    Effect.gen(function* () {
      const write = Effect.map(
        sql.unsafe<{ pid: number }>("insert into things values (2) returning pg_backend_pid() as pid"),
        ([row]) => row!.pid,
      )
      return yield* whileOpen(
        write,
        Effect.fnUntraced(function* (pid) {
          const waits = yield* Deferred.make<string>()
          const report = (message: string) => Effect.asVoid(Deferred.succeed(waits, message))
          const building = yield* Effect.forkDetach(release(indexed, { report }))
          return yield* during(building, yield* Deferred.await(waits), pid)
        }),
      )
    })

  test("keeps its table writable, and waits for open transactions", function* () {
    yield* release(things)
    const [first, second] = yield* whileBuilding(
      Effect.fnUntraced(function* (building, message, pid) {
        expect(message).toContain(
          `The build of index things_id waits for the transaction of process ${pid} (test, since `,
        )
        yield* sql.unsafe("insert into things values (3)")
        expect(yield* state).toEqual({ files: [ONE], valid: [false] })
        // A second process waits, and must not block the build.
        const other = yield* Effect.forkDetach(release(indexed))
        const waiting = sql.unsafe(`
          select from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
            and pid <> pg_backend_pid()`)
        yield* Effect.repeat(waiting, { while: ({ length }) => length === 0 })
        return [building, other]
      }),
    )
    expect(yield* Fiber.join(first!)).toEqual([TWO, THREE])
    expect(yield* Fiber.join(second!)).toEqual([])
    expect(yield* state).toEqual({ files: [ONE, TWO, THREE], valid: [true] })
  })

  test("is built again if its build was interrupted", function* () {
    yield* release(things)
    yield* whileBuilding(
      Effect.fnUntraced(function* (building) {
        yield* sql.unsafe(`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and query like '%create index concurrently%'`)
        yield* Effect.flip(Fiber.join(building))
        expect(yield* state).toEqual({ files: [ONE], valid: [false] })
      }),
    )
    expect(yield* release(indexed)).toEqual([TWO, THREE])
    expect(yield* state).toEqual({ files: [ONE, TWO, THREE], valid: [true] })
  })

  test("is recorded without a second build if only the record is missing", function* () {
    yield* release(things)
    yield* sql.unsafe("create index things_id on things (id)")
    expect(yield* release(indexed)).toEqual([TWO, THREE])
    expect(yield* sql.unsafe("select pg_get_indexdef('things_id'::regclass) like '%without%' as rebuilt")).toEqual([
      { rebuilt: false },
    ])
  })
})
