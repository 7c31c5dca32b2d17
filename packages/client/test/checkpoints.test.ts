import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Pool } from "pg"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type CheckpointStore, postgresCheckpointStore, sqliteCheckpointStore } from "../src/checkpoints.ts"
import { fileCheckpointStore } from "../src/fileCheckpointStore.ts"
import type { Checkpoint } from "../src/syncEvents.ts"

const database = testDatabase({ name: "empty", migrate: async () => {} })
let pool: Pool
beforeAll(async () => {
  pool = new Pool({ connectionString: database() })
  // Twice, as every start of a process does.
  for (const _ of [1, 2]) await postgresCheckpointStore(pool).createTable()
})
afterAll(() => pool.end())

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "outreach-checkpoints-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
function openSqlite(path: string): DatabaseSync {
  const opened = new DatabaseSync(path)
  onTestFinished(() => opened.close())
  return opened
}
const checkpointAt = (second: number): Checkpoint => ({
  since: `2026-11-20T00:00:${String(second).padStart(2, "0")}.000001Z`,
  seen: { [`evt_${second}`]: "2026-11-20T00:01:00.000000Z" },
})
let names = 0

interface Subject {
  readonly kind: string
  /** Returns a function that opens the same store each time, as after a restart, and one that spoils what it keeps. */
  readonly place: () => { readonly open: () => CheckpointStore; readonly spoil: (text: string) => Promise<unknown> }
}

const subjects: readonly Subject[] = [
  {
    kind: "a file",
    place: () => {
      const path = join(tempFolder(), "checkpoint.json")
      return { open: () => fileCheckpointStore(path), spoil: async (text) => writeFileSync(path, text) }
    },
  },
  {
    kind: "SQLite",
    place: () => {
      const path = join(tempFolder(), "partner.db")
      const open = () => sqliteCheckpointStore(openSqlite(path))
      const spoil = async (text: string) =>
        openSqlite(path).prepare("update outreach_checkpoints set checkpoint = ?").run(text)
      return { open, spoil }
    },
  },
  {
    kind: "PostgreSQL",
    place: () => {
      const name = `test ${names++}`
      const spoil = (text: string) =>
        pool.query("update outreach_checkpoints set checkpoint = to_jsonb($1::text) where name = $2", [text, name])
      return { open: () => postgresCheckpointStore(pool, { name }), spoil }
    },
  },
]

describe.each(subjects)("a checkpoint in $kind", ({ place }) => {
  it("is none at first, and then the one that was saved last, by whichever process", async () => {
    const { open } = place()
    expect(await open().load()).toBeUndefined()
    const store = open()
    for (const second of [1, 2]) await store.save(checkpointAt(second))
    expect([await store.load(), await open().load()]).toEqual([checkpointAt(2), checkpointAt(2)])
    const without = { since: "2026-11-20T00:00:00Z" }
    await open().save(without)
    expect(await store.load()).toEqual(without)
  })

  it("is rejected if it is corrupt, instead of starting from scratch", async () => {
    const { open, spoil } = place()
    await open().save(checkpointAt(1))
    for (const text of ["{", "null", '{"since":"never"}', '{"since":1}', '{"since":"2026-11-20","seen":{"a":1}}']) {
      await spoil(text)
      await expect((async () => open().load())()).rejects.toThrow(/holds no checkpoint: restore/)
    }
  })
})

describe("a store in a file", () => {
  it("keeps a whole checkpoint, the last one or the one after, when its process is killed at any moment", async () => {
    const path = join(tempFolder(), "checkpoint.json")
    const writer = `
      import { fileCheckpointStore } from ${JSON.stringify(new URL("../src/fileCheckpointStore.ts", import.meta.url).href)}
      const store = fileCheckpointStore(${JSON.stringify(path)})
      const since = "2026-11-20T00:00:00Z"
      let count = Number(Object.keys((await store.load())?.seen ?? {})[0]?.slice(4) ?? 0)
      for (;;) {
        count++
        const padding = Array.from({ length: 200 }, (_, i) => ["evt_" + "0".repeat(i % 9) + count + "_" + i, since])
        await store.save({ since, seen: { ["evt_" + count]: since, ...Object.fromEntries(padding) } })
        console.log(count)
      }`
    let confirmed = 0
    for (let kills = 1; kills <= 2; kills++) {
      const child = spawn(process.execPath, ["--input-type=module", "--eval", writer], {
        stdio: ["ignore", "pipe", "inherit"],
      })
      const exited = once(child, "exit")
      let output = ""
      let lines = 0
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text
        lines += text.split("\n").length - 1
        if (lines >= kills * 7) child.kill("SIGKILL")
      })
      await Promise.all([exited, once(child.stdout, "close")])
      confirmed = Number(output.trim().split("\n").at(-1))
      const kept = await fileCheckpointStore(path).load()
      const count = Number(Object.keys(kept!.seen!)[0]!.slice(4))
      expect(Object.keys(kept!.seen!)).toHaveLength(201)
      expect(count).toBeGreaterThanOrEqual(confirmed)
      expect(count).toBeLessThanOrEqual(confirmed + 1)
    }
  })

  it("saves concurrent checkpoints one after the other", async () => {
    const path = join(tempFolder(), "checkpoint.json")
    const store = fileCheckpointStore(path)
    await Promise.all(Array.from({ length: 60 }, (_, second) => store.save(checkpointAt(second))))
    expect(await store.load()).toEqual(checkpointAt(59))
    expect(existsSync(`${path}.tmp`)).toBe(false)
  })

  it("reports a failed save, keeps the previous checkpoint, and can save the next one", async () => {
    const folder = tempFolder()
    await expect(fileCheckpointStore(join(folder, "missing", "checkpoint.json")).save(checkpointAt(1))).rejects.toThrow(
      "ENOENT",
    )
    const path = join(folder, "checkpoint.json")
    const store = fileCheckpointStore(path)
    await store.save(checkpointAt(1))
    // A folder stands where the draft is to be written.
    const draft = `${path}.tmp`
    mkdirSync(draft)
    await expect(store.save(checkpointAt(2))).rejects.toThrow("EISDIR")
    expect(await store.load()).toEqual(checkpointAt(1))
    rmdirSync(draft)
    await store.save(checkpointAt(3))
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(checkpointAt(3))
  })
})

describe("a store in a database", () => {
  it("saves in the transaction that stores the events, in SQLite", () => {
    const opened = openSqlite(":memory:")
    const store = sqliteCheckpointStore(opened)
    store.save(checkpointAt(1))
    opened.exec("begin")
    store.save(checkpointAt(2))
    opened.exec("rollback")
    expect(store.load()).toEqual(checkpointAt(1))
  })

  it("saves in the transaction that stores the events, in PostgreSQL", async () => {
    const store = postgresCheckpointStore(pool, { name: "transaction" })
    await store.save(checkpointAt(1))
    const client = await pool.connect()
    await client.query("begin")
    await store.save(checkpointAt(2), client)
    await client.query("rollback")
    expect(await store.load()).toEqual(checkpointAt(1))
    await client.query("begin")
    await store.save(checkpointAt(3), client)
    await client.query("commit")
    client.release()
    expect(await store.load()).toEqual(checkpointAt(3))
  })

  it("keeps several checkpoints by name in the given table, and rejects table names that need quotes", async () => {
    await pool.query("create schema partner")
    const opened = openSqlite(":memory:")
    const stores = ["one", "it's"].map((name) => postgresCheckpointStore(pool, { table: "partner.seen", name }))
    await stores[0]!.createTable()
    const beside = ["one", "it's"].map((name) => sqliteCheckpointStore(opened, { table: "seen", name }))
    for (const [first, second] of [stores, beside]) {
      await first!.save(checkpointAt(1))
      await second!.save(checkpointAt(2))
      expect([await first!.load(), await second!.load()]).toEqual([checkpointAt(1), checkpointAt(2)])
    }
    for (const table of ["", "a b", 'a"', "a.b.c", "a;drop table b", "A"]) {
      expect(() => postgresCheckpointStore(pool, { table })).toThrow(RangeError)
      expect(() => sqliteCheckpointStore(opened, { table })).toThrow(RangeError)
    }
  })
})
