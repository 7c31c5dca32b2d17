import { readFile } from "node:fs/promises"
import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { effectTest, runWith } from "@outreach/testing/runWith"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { dumpSchema } from "./dumpSchema.ts"

const SCHEMA = new URL("../schema.sql", import.meta.url)
const migrated = migratedDatabase()
const run = runWith(() => testDatabaseLayer(migrated()))
/** Dumps the schema after a statement, and rolls the statement back. */
const dumpAfter = Effect.fnUntraced(function* (statement: string) {
  const dump = Effect.andThen(sql.unsafe(statement), dumpSchema)
  // Swaps success and failure, because only a failure rolls back.
  return yield* Effect.flip(inTransaction(Effect.flip(dump)))
})

describe("dumpSchema", () => {
  it("equals schema.sql, so that schema.sql matches the migrations", async () => {
    await expect(await run(dumpSchema)).toMatchFileSnapshot("../schema.sql")
  })

  it.each([
    ["a column", "alter table api_keys add column note text"],
    ["a default", "alter table programs alter column status set default 'draft'"],
    ["a column that may be null", "alter table programs alter column name drop not null"],
    ["a generated column", "alter table campaign_domains alter column size drop expression"],
    ["a collation", 'alter table recipients alter column token type text collate "und-x-icu"'],
    ["a check", "alter table recipient_keys drop constraint recipient_keys_npi_check"],
    ["a foreign key", "alter table messages drop constraint messages_organization_id_recipient_id_fkey"],
    ["an index", "drop index recipients_by_update"],
    ["a table's durability", "alter table rate_windows set logged"],
    ["a storage parameter", "alter table deliveries reset (fillfactor)"],
    ["a function", "create function more() returns int language sql as 'select 1'"],
  ])("shows a change of %s", async (_what, statement) => {
    expect(await run(dumpAfter(statement))).not.toBe(await readFile(SCHEMA, "utf8"))
  })

  it.each([
    ["a view", "create view more as select 1 as one"],
    ["a sequence", "create sequence more"],
    ["an enum", "create type more as enum ('one')"],
    ["a virtual column", "alter table api_keys add column more int generated always as (1) virtual"],
  ])("dies on %s instead of leaving it out", async (_what, statement) => {
    await expect(run(dumpAfter(statement))).rejects.toThrow("dumpSchema does not support more")
  })
})

const url = testDatabase({ name: "empty", migrate: async () => {} })

it("schema.sql recreates the schema from its dump", async () => {
  const text = await readFile(SCHEMA, "utf8")
  // The client sends one statement at a time, so a PL/pgSQL block contains them all.
  const load = sql.unsafe(`do $schema$ begin\n${text}\nend $schema$`)
  const recreated = Effect.andThen(load, dumpSchema)
  expect(await Effect.runPromise(Effect.provide(recreated, testDatabaseLayer(url())))).toBe(text)
})

const test = effectTest(run)

test("functions of the database have at most eight parameters", function* () {
  const functions = yield* sql<{ name: string; parameters: number }>`
    select proname as name, pronargs::int as parameters from pg_proc
    where pronamespace = 'public'::regnamespace order by parameters desc, name`
  expect(functions.length).toBeGreaterThan(40)
  expect(functions.filter(({ parameters }) => parameters > 8)).toEqual([])
})
