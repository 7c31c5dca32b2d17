import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { postgresStore } from "@outreach/rate-limit/postgres"
import { Pool } from "pg"
import { expect, it } from "vitest"
import { eightProcesses } from "./eightProcesses.ts"

const database = testDatabase({
  name: "rate_limits",
  sources: [new URL("../src/postgresStore.ts", import.meta.url)],
  migrate: async (url) => {
    const pool = new Pool({ connectionString: url })
    await postgresStore(pool).createTable()
    await pool.end()
  },
})

it.each(["fixedWindow", "tokenBucket"] as const)(
  "allows eight processes exactly the limit of a %s",
  async (algorithm) => {
    const one = await eightProcesses("postgres", database(), algorithm, { limit: 1000, times: 500, cost: 1 })
    expect(one.reduce((sum, allowed) => sum + allowed)).toBe(1000)
    expect(one.filter((allowed) => allowed > 0).length).toBeGreaterThan(1)
    const seven = await eightProcesses("postgres", database(), algorithm, { limit: 1001, times: 500, cost: 7 })
    expect(seven.reduce((sum, allowed) => sum + allowed)).toBe(143)
  },
)
