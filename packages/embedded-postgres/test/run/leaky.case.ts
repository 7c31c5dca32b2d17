import { Client } from "pg"
import { test } from "vitest"
import { testDatabase } from "../../src/testDatabase.ts"
import { schema } from "./schema.ts"

const url = testDatabase(schema)

test("passes but forgets its connection", async () => {
  const client = new Client({ connectionString: url(), application_name: "forgotten" })
  client.on("error", () => {})
  await client.connect()
})
