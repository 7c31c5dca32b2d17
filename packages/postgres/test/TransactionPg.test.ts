import { describe, expect } from "@effect/vitest"
import { Transaction } from "@outreach/domain/Transaction"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase())

/** Attempts a transaction in which an adapter's statement fails with a SQLSTATE. */
const attempt = Effect.fnUntraced(function* (code: string) {
  const sql = yield* SqlClient.SqlClient
  const statement = sql.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`)
  return yield* Effect.exit((yield* Transaction).attempt(orDieAs("Test.fail")(statement)))
})

describe("TransactionPg.attempt", () => {
  test("fails when the database would reject the transaction again", function* () {
    const exit = yield* attempt("23514")
    expect(Exit.isFailure(exit) && exit.cause.reasons[0]).toMatchObject({
      error: { _tag: "TransactionRejected", reason: "23514" },
    })
  })

  test("dies when the same transaction may succeed later", function* () {
    const exit = yield* attempt("53300")
    expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
  })
})

describe("TransactionPg.retryTransient", () => {
  const failing = (code: string, failures: number) =>
    Effect.gen(function* () {
      const { retryTransient } = yield* Transaction
      const sql = yield* SqlClient.SqlClient
      let tries = 0
      const statement = Effect.suspend(() =>
        ++tries > failures
          ? Effect.void
          : sql.unsafe(`do $$ begin raise exception using errcode = '${code}'; end $$`).pipe(Effect.asVoid),
      )
      const exit = yield* Effect.exit(retryTransient(orDieAs("Test.fail")(statement), 3))
      return { tries, isDone: Exit.isSuccess(exit) }
    })

  test("runs again what the database failed for the moment, and no more often than it may", function* () {
    expect(yield* failing("53300", 2)).toEqual({ tries: 3, isDone: true })
    expect(yield* failing("53300", 9)).toEqual({ tries: 4, isDone: false })
  })

  test("leaves at once what the database would reject again", function* () {
    expect(yield* failing("23514", 1)).toEqual({ tries: 1, isDone: false })
  })
})
