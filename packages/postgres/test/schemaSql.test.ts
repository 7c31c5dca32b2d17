import { readFile } from "node:fs/promises"
import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { dumpSchema } from "@outreach/postgres/dumpSchema"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const file = new URL("../schema.sql", import.meta.url)

const url = testDatabase({
  name: "schema_sql",
  sources: [file],
  migrate: async (url) => {
    const text = await readFile(file, "utf8")
    // The client sends one statement at a time; a block of PL/pgSQL holds them all.
    const load = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`do $schema$ begin\n${text}\nend $schema$`))
    await Effect.runPromise(Effect.provide(load, testDatabaseLayer(url)))
  },
})

describe("schema.sql", () => {
  it("makes the schema that it was written from", async () => {
    expect(await Effect.runPromise(Effect.provide(dumpSchema, testDatabaseLayer(url())))).toBe(
      await readFile(file, "utf8"),
    )
  })
})
