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
