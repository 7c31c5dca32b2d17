import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { fixedWindow, rateLimiter, tokenBucket } from "@outreach/rate-limit"
import { type PostgresClient, postgresStore } from "@outreach/rate-limit/postgres"
import { Pool } from "pg"
import postgres from "postgres"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { describeStore, newKey } from "./describeStore.ts"

const database = testDatabase({ name: "empty", migrate: async () => {} })
let pool: Pool
let sql: postgres.Sql
beforeAll(async () => {
  pool = new Pool({ connectionString: database(), max: 20 })
  sql = postgres(database(), { max: 5, onnotice: () => {} })
  // Twice, as every start of a process does.
  for (const _ of [1, 2]) await postgresStore(pool).createTable()
})
afterAll(async () => {
  await sql.end()
  await pool.end()
})

const clients: readonly (readonly [string, () => PostgresClient])[] = [
  ["pg", () => pool],
  ["postgres.js", () => sql],
]
for (const [name, client] of clients) {
  describeStore(`PostgreSQL by ${name}`, (now) => postgresStore(client(), { now }))
}

describe("a store in PostgreSQL", () => {
  it("counts by the server's clock by default", async () => {
    const limiter = rateLimiter(fixedWindow({ limit: 1, windowSeconds: 86_400 }), postgresStore(pool))
    const { rows } = await pool.query("select extract(epoch from now())::float8 as now")
    const { reset } = await limiter.take(newKey())
    expect(reset - rows[0].now).toBeGreaterThan(-1)
    expect(reset - rows[0].now).toBeLessThanOrEqual(86_400)
  })
  it("only deletes keys with their full limit available, in batches of a given size", async () => {
    await pool.query("delete from rate_limits")
    let now = 1_780_000_000_000
    const store = postgresStore(pool, { now: () => now })
    const window = rateLimiter(fixedWindow({ limit: 1, windowSeconds: 60 }), store)
    const bucket = rateLimiter(tokenBucket({ capacity: 1, refill: "1 per minute" }), store)
    for (let i = 0; i < 3; i++) await window.take(newKey())
    const old = newKey()
    await bucket.take(old)
    now += 59_999
    const young = newKey()
    await bucket.take(young)
    expect(await store.deleteExpired()).toBe(0)
    now += 1
    expect([await store.deleteExpired(3), await store.deleteExpired(3), await store.deleteExpired(3)]).toEqual([
      3, 1, 0,
    ])
    expect((await bucket.take(young)).allowed).toBe(false)
    expect((await bucket.take(old)).allowed).toBe(true)
  })
  it("stores its keys in a custom table if configured, and takes a function that sends its statements", async () => {
    await pool.query("create schema if not exists limits")
    const send: PostgresClient = async (text, values) => (await pool.query(text, values)).rows
    const store = postgresStore(send, { table: "limits.of_api" })
    await store.createTable()
    await rateLimiter(fixedWindow({ limit: 1 }), store).take("a")
    expect((await pool.query("select key from limits.of_api")).rows).toHaveLength(1)
  })
  it("rejects a table name that needs quotes", () => {
    for (const table of ["", "Limits", "a.b.c", "limits; drop table x", 'a"b']) {
      expect(() => postgresStore(pool, { table })).toThrow("table must be a name in lower case")
    }
  })
  it("throws the server's error", async () => {
    const limiter = rateLimiter(fixedWindow({ limit: 1 }), postgresStore(pool, { table: "missing" }))
    await expect(limiter.take("a")).rejects.toThrow('relation "missing" does not exist')
  })
})
