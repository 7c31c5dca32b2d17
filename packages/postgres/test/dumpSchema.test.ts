import { describe, expect, it } from "@effect/vitest"
import { dumpSchema } from "@outreach/postgres/dumpSchema"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

const runOn = <A>(url: string, effect: Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, testDatabaseLayer(url)))

const migrated = migratedDatabase()
/** Dumps the schema as a statement would leave it, and takes the statement back. */
const dumpAfter = (statement: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dump = Effect.andThen(sql.unsafe(statement), dumpSchema)
    // Success is turned into failure and back, because a failure is what takes a transaction back.
    return yield* Effect.flip(sql.withTransaction(Effect.flip(dump)))
  })

describe("dumpSchema", () => {
  it("writes what schema.sql says, so that schema.sql is what the migrations make", async () => {
    await expect(await runOn(migrated(), dumpSchema)).toMatchFileSnapshot("../schema.sql")
  })

  it.each([
    ["a column", "alter table api_keys add column note text"],
    ["a column's type", "alter table programs alter column learner_target type bigint"],
    ["a default", "alter table programs alter column status set default 'draft'"],
    ["a default that is gone", "alter table programs alter column status drop default"],
    ["a column that may be null", "alter table programs alter column name drop not null"],
    ["a collation", 'alter table recipients alter column token type text collate "und-x-icu"'],
    ["a check", "alter table recipient_keys drop constraint recipient_keys_npi_check"],
    ["a unique constraint", "alter table recipient_keys drop constraint recipient_keys_npi"],
    ["a foreign key", "alter table messages drop constraint messages_organization_id_recipient_id_fkey"],
    ["an index", "drop index recipients_by_update"],
    ["a replica identity", "alter table programs replica identity full"],
    ["a table", "create table more (id text primary key)"],
    ["a table's durability", "alter table rate_windows set logged"],
    ["a storage parameter", "alter table deliveries reset (fillfactor)"],
    ["a function", "create function more() returns int language sql as 'select 1'"],
  ])("shows a change of %s", async (_what, statement) => {
    expect(await runOn(migrated(), dumpAfter(statement))).not.toBe(await runOn(migrated(), dumpSchema))
  })

  it.each([
    ["a view", "create view more as select 1 as one"],
    ["a sequence", "create sequence more"],
    ["an enum", "create type more as enum ('one')"],
    ["a generated column", "alter table api_keys add column more int generated always as (1) stored"],
  ])("dies at %s, rather than leave it out", async (_what, statement) => {
    await expect(runOn(migrated(), dumpAfter(statement))).rejects.toThrow("dumpSchema cannot write what more is")
  })
})
