import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase())

test("a function of the database has at most eight parameters", function* () {
  const sql = yield* SqlClient.SqlClient
  const functions = yield* sql<{ name: string; parameters: number }>`
    select proname as name, pronargs::int as parameters from pg_proc
    where pronamespace = 'public'::regnamespace order by parameters desc, name`
  expect(functions.length).toBeGreaterThan(40)
  expect(functions.filter(({ parameters }) => parameters > 8)).toEqual([])
})
