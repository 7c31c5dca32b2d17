import { Transaction } from "@outreach/domain/Transaction"
import { type DatabaseFailure, orDieAs } from "@outreach/postgres/DatabaseFailure"
import { describeFault, faultOf } from "@outreach/postgres/describeFault"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { sql } from "@outreach/testing/sql"
import { Cause, Effect, Exit } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { describe, expect, it } from "vitest"

const url = migratedDatabase()
const { run, test } = testsOnDatabase({ url })

/** Runs a failing statement on a new connection, and returns the resulting defect. */
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
  it("is transient if the server closed the connection", async () => {
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
    ["has a different schema than the plan", "0A000"],
    ["reports a serialization conflict", "40001"],
    ["cancels a deadlock", "40P01"],
    ["loses a connection", "08006"],
    ["denies the role a right", "42501"],
  ])("is transient when the server %s", async (_why, code) => {
    const raise = `do $$ begin raise exception using errcode = '${code}'; end $$`
    expect(await failureOf((sql) => sql`${sql.literal(raise)}`)).toMatchObject({ transient: true })
  })

  it("is transient if the port is closed", async () => {
    expect(await failureOf((sql) => sql`select 1`, { port: "1" })).toMatchObject({ transient: true })
  })

  it.each([{ password: "wrong" }, { pathname: "/nowhere" }])(
    "is transient if the server rejects the connection for %j, so that work is retried",
    async (wrong) => {
      expect(await failureOf((sql) => sql`select 1`, wrong)).toMatchObject({ transient: true })
    },
  )

  it("is not transient if the statement is wrong, and doesn't contain its text", async () => {
    const failure = await failureOf((sql) => sql`select 'dana@clinic.test'::int`)
    expect(failure).toMatchObject({ transient: false })
    expect(JSON.stringify(failure) + failure?.message).not.toContain("dana")
  })
})

it("advises to migrate if the schema is missing or older, and otherwise advises on the connection", async () => {
  const faultIn = (statement: string) => run(sql.unsafe(statement).pipe(Effect.flip, Effect.map(describeFault)))
  for (const [code, statement] of [
    ["42P01", "select from nowhere"],
    ["42703", "select nothing from migrations"],
    ["42883", "select nothing()"],
  ] as const) {
    expect(await faultIn(statement)).toEqual({ code, advice: expect.stringContaining("run `ops migrate`") })
  }
  expect(faultOf("42501").advice).toContain("`ops migrate --grant-to`")
  expect(await faultIn("select set_config('statement_timeout', '-5', false)")).toEqual(faultOf("22023"))
  expect(faultOf("22023").advice).toContain("look at the server's log")
})

/** Runs a transaction in which an adapter's statement fails with a SQLSTATE. */
const attempt = Effect.fnUntraced(function* (code: string) {
  const statement = sql.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`)
  return yield* Effect.exit((yield* Transaction).attempt(orDieAs("Test.fail")(statement)))
})

describe("TransactionPg.attempt", () => {
  test("fails if the database would reject the transaction again", function* () {
    const exit = yield* attempt("23514")
    expect(Exit.isFailure(exit) && exit.cause.reasons[0]).toMatchObject({
      error: { _tag: "TransactionRejected", reason: "23514" },
    })
  })

  test("dies if a retry of the transaction may succeed", function* () {
    const exit = yield* attempt("53300")
    expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
  })
})

describe("TransactionPg.retryTransient", () => {
  const failing = Effect.fnUntraced(function* (code: string, failures: number) {
    const { retryTransient } = yield* Transaction
    let tries = 0
    const statement = Effect.suspend(() =>
      ++tries > failures
        ? Effect.void
        : sql.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`).pipe(Effect.asVoid),
    )
    const exit = yield* Effect.exit(retryTransient(orDieAs("Test.fail")(statement), 3))
    return { tries, isDone: Exit.isSuccess(exit) }
  })

  test("retries transient database failures up to the limit", function* () {
    expect(yield* failing("53300", 2)).toEqual({ tries: 3, isDone: true })
    expect(yield* failing("53300", 9)).toEqual({ tries: 4, isDone: false })
  })

  test("fails immediately on permanent errors", function* () {
    expect(yield* failing("23514", 1)).toEqual({ tries: 1, isDone: false })
  })
})
