import { writeFile } from "node:fs/promises"
import { test } from "vitest"
import { postgresUrl } from "../../src/postgresUrl.ts"
import { testDatabase } from "../../src/testDatabase.ts"
import { query } from "../query.ts"
import { schema } from "./schema.ts"

const url = testDatabase(schema)

test("reports what it was given", async ({ task }) => {
  const [row] = await query(url(), "select made, current_database() as name from things")
  const report = { ...row, server: await postgresUrl() }
  await writeFile(`${process.env["REPORT_FOLDER"]}/${task.file.projectName}`, JSON.stringify(report))
})
