import { describeFault, faultOf } from "@outreach/postgres/describeFault"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"

const url = migratedDatabase()

it("says about a schema that is missing or older how to migrate, and about all else what the connection says", async () => {
  const faultIn = (statement: string) =>
    SqlClient.SqlClient.use((sql) => sql.unsafe(statement)).pipe(
      Effect.provide(testDatabaseLayer(url())),
      Effect.flip,
      Effect.map(describeFault),
      Effect.runPromise,
    )
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
