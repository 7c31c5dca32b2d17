import { expect, test, vi } from "vitest"
import { postgresUrl } from "../src/postgresUrl.ts"
import { testServer } from "../src/vitestServer.ts"
import { query } from "./query.ts"

test("DATABASE_URL is taken as it is and outlives stop", async () => {
  const serverUrl = await postgresUrl()
  vi.stubEnv("DATABASE_URL", serverUrl)
  const { url, stop } = await testServer()
  expect(url).toBe(serverUrl)
  await stop()
  expect(await query(serverUrl, "select 1 as one")).toEqual([{ one: 1 }])
})

test("a DATABASE_URL that is no PostgreSQL address is refused without being repeated", async () => {
  for (const wrong of ["secret", "mysql://secret@localhost/x"]) {
    vi.stubEnv("DATABASE_URL", wrong)
    await expect(testServer()).rejects.toThrow(/^DATABASE_URL is not a postgres:\/\/ address\.$/)
  }
})
