import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Pool } from "pg"
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest"
import { memoryStore, postgresStore, sqliteStore } from "../src/deduplicate.ts"
import { describeStore, newEvent, type StoreSubject } from "./describeStore.ts"

const database = testDatabase({ name: "empty", migrate: async () => {} })
let pool: Pool
beforeAll(async () => {
  pool = new Pool({ connectionString: database(), max: 20 })
  // Twice, as every start of a process does.
  for (const _ of [1, 2]) await postgresStore(pool).createTable()
})
afterAll(() => pool.end())

/** Returns a function that opens a SQLite file of this test, each time as another process does. */
function sqliteFile(): () => DatabaseSync {
  const folder = mkdtempSync(join(tmpdir(), "outreach-webhooks-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return () => {
    const database = new DatabaseSync(join(folder, "partner.db"))
    onTestFinished(() => database.close())
    return database
  }
}

const subjects: readonly StoreSubject[] = [
  {
    kind: "memory",
    open: () => {
      let now = 0
      const store = memoryStore({ leaseSeconds: 60, now: () => now })
      const abandon = async (eventId: string) => {
        const claim = await store.claim(eventId)
        now += 60
        return claim
      }
      return { store, abandon }
    },
  },
  {
    kind: "PostgreSQL",
    open: () => ({
      store: postgresStore(pool, { leaseSeconds: 60 }),
      abandon: (eventId) => postgresStore(pool, { leaseSeconds: 0 }).claim(eventId),
    }),
  },
  {
    kind: "SQLite",
    open: () => {
      let now = 0
      const open = sqliteFile()
      const store = sqliteStore(open(), { leaseSeconds: 60, now: () => now })
      const other = sqliteStore(open(), { leaseSeconds: 60, now: () => now })
      const abandon = async (eventId: string) => {
        const claim = await other.claim(eventId)
        now += 60
        return claim
      }
      return { store, abandon }
    },
  },
]

subjects.forEach(describeStore)

it.each(["PostgreSQL", "SQLite"])(
  "the store in %s forgets what was handled long ago, and nothing that waits",
  async (kind) => {
    let now = 1_000_000
    const store = kind === "SQLite" ? sqliteStore(sqliteFile()(), { now: () => now }) : postgresStore(pool)
    const [handled, waiting] = [newEvent().event_id, newEvent().event_id]
    for (const id of [handled, waiting]) await store.claim(id)
    await store.complete(handled)
    now += 100
    await store.forget(3600)
    expect((await store.claim(handled)).state).toBe("handled")
    await store.forget(-1)
    expect((await store.claim(handled)).state).toBe("claimed")
    expect((await store.claim(waiting)).state).toBe("in_progress")
  },
)

it("the store in PostgreSQL stores its events in the configured table, and rejects a name that needs quotes", async () => {
  await pool.query("create schema webhooks")
  const store = postgresStore(pool, { table: "webhooks.seen" })
  await store.createTable()
  await store.complete("evt_1")
  expect((await store.claim("evt_1")).state).toBe("claimed")
  expect((await pool.query("select event_id from webhooks.seen")).rows).toEqual([{ event_id: "evt_1" }])
  for (const table of ["", "a b", 'a"', "a.b.c", "a;drop table b", "A"]) {
    expect(() => postgresStore(pool, { table })).toThrow(RangeError)
  }
})

it("the store in SQLite uses the configured table for its events, and rejects a name that needs quotes", async () => {
  const database = sqliteFile()()
  await sqliteStore(database, { table: "seen" }).claim("evt_1")
  const rows = database.prepare("select event_id from seen").all()
  expect(rows.map((row) => row["event_id"])).toEqual(["evt_1"])
  for (const table of ["", "a b", 'a"', "a.b", "a;drop table b", "A"]) {
    expect(() => sqliteStore(database, { table })).toThrow(RangeError)
  }
})

it("the store in memory forgets the oldest events beyond its capacity", async () => {
  const store = memoryStore({ capacity: 2 })
  for (const id of ["evt_1", "evt_2", "evt_3"]) {
    await store.claim(id)
    await store.complete(id)
  }
  expect((await store.claim("evt_3")).state).toBe("handled")
  expect((await store.claim("evt_1")).state).toBe("claimed")
})
