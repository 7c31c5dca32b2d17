import { describe, expect, it } from "@effect/vitest"
import { type DatabaseFailure, orDieAs } from "@outreach/postgres/DatabaseFailure"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Cause, Effect, Exit } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

const url = migratedDatabase()

/** Lets a statement fail on a connection of its own, and answers what becomes of it. */
const failureOf = async (
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>,
  other: { readonly port?: string; readonly password?: string; readonly pathname?: string } = {},
) => {
  const address = Object.assign(new URL(url()), other)
  const exit = await Effect.runPromiseExit(
    Effect.flatMap(SqlClient.SqlClient, statement).pipe(
      Effect.provide(databaseLayer({ database: databaseAt(address.href), applicationName: "test" })),
      orDieAs("Test.fail"),
    ),
  )
  const reason = Exit.isFailure(exit) ? exit.cause.reasons[0] : undefined
  return reason !== undefined && Cause.isDieReason(reason) ? (reason.defect as DatabaseFailure) : undefined
}

describe("DatabaseFailure", () => {
  it("is transient when the server ended the connection", async () => {
    expect(await failureOf((sql) => sql`select pg_terminate_backend(pg_backend_pid())`)).toMatchObject({
      operation: "Test.fail",
      transient: true,
    })
  })

  it.each([
    ["is shutting down", "57P01"],
    ["is starting", "57P03"],
    ["has no connection left", "53300"],
    ["is a standby", "25006"],
    ["has another schema than the plan", "0A000"],
    ["replays what conflicts", "40001"],
    ["ends a deadlock", "40P01"],
    ["loses a connection", "08006"],
    ["gives the role no rights", "42501"],
  ])("is transient when the server %s", async (_why, code) => {
    const raise = `do $$ begin raise exception using errcode = '${code}'; end $$`
    expect(await failureOf((sql) => sql`${sql.literal(raise)}`)).toMatchObject({ transient: true })
  })

  it("is transient when nothing listens", async () => {
    expect(await failureOf((sql) => sql`select 1`, { port: "1" })).toMatchObject({ transient: true })
  })

  it.each([{ password: "wrong" }, { pathname: "/nowhere" }])(
    "is transient when the server refuses the connection for %j, so that nothing is given up for it",
    async (wrong) => {
      expect(await failureOf((sql) => sql`select 1`, wrong)).toMatchObject({ transient: true })
    },
  )

  it("is not transient when the statement is wrong, and repeats nothing of it", async () => {
    const failure = await failureOf((sql) => sql`select 'dana@clinic.test'::int`)
    expect(failure).toMatchObject({ transient: false })
    expect(JSON.stringify(failure) + failure?.message).not.toContain("dana")
  })
})
