// Node, Deno and Bun: keeps events and checkpoints in each SQLite that the runtime has, and in a file, and prints which.
import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "@outreach/client"
import { sqliteCheckpointStore } from "@outreach/client/checkpoints"
import { fileCheckpointStore } from "@outreach/client/checkpoints/file"
import { deduplicate, sqliteStore } from "@outreach/webhook-verifier/deduplicate"

const databases = {
  "bun:sqlite": ({ Database }) => new Database(":memory:"),
  "node:sqlite": ({ DatabaseSync }) => new DatabaseSync(":memory:"),
  "better-sqlite3": ({ default: Database }) => new Database(":memory:"),
}
const checkpoint = { since: "2026-01-01T00:00:00Z", seen: { evt_1: "2026-01-01T00:00:01Z" } }

async function checkCheckpoints(store) {
  assert.equal(await store.load(), undefined)
  for (const saved of [{ since: checkpoint.since }, checkpoint]) {
    await store.save(saved)
    assert.deepEqual(await store.load(), saved)
  }
}

// better-sqlite3 is made for Node 22 and later, and ends an older one with a segmentation fault.
if (Number.parseInt(process.versions.node, 10) < 22) delete databases["better-sqlite3"]
const proven = []
for (const [name, open] of Object.entries(databases)) {
  let database
  try {
    database = open(await import(name))
  } catch {
    continue // The runtime has no such module, or is too old for it.
  }
  await checkCheckpoints(sqliteCheckpointStore(database))
  const store = sqliteStore(database)
  let handled = 0
  const handle = deduplicate(store, () => {
    handled += 1
  })
  for (let delivery = 0; delivery < 3; delivery++) await handle({ event_id: "evt_1" })
  assert.equal(handled, 1)
  const { claim } = await store.claim("evt_2")
  assert.equal((await store.claim("evt_2")).state, "in_progress")
  await store.release("evt_2", claim)
  assert.equal((await store.claim("evt_2")).state, "claimed")
  proven.push(name)
}

const folder = mkdtempSync(join(tmpdir(), "outreach-stores-"))
await checkCheckpoints(fileCheckpointStore(join(folder, "checkpoint.json")))
rmSync(folder, { recursive: true })

let agent
const fetch = async (_, { headers }) => {
  agent = headers["User-Agent"]
  return new Response('{"status":"ok"}', { headers: { "X-Request-Id": "req_1" } })
}
const client = createClient({ apiKey: "key", baseUrl: "https://api.test/v1/", fetch })
assert.equal(client.responseOf(await client.getHealth()).requestId, "req_1")
console.log(`stores over ${[...proven, "a file"].join(", ")}, ${agent}`)
