import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import postgres from "postgres"
import { findPages } from "./console/findPages.ts"
import { type Sizes, seed } from "./console/seed.ts"
import { type RunningConsole, startConsole } from "./console/startConsole.ts"
import { median } from "./median.ts"

// Measures the console's response times on a month of data of a large deployment. Fails if the median of a page is above the limit of 100 ms.

const LIMIT_MS = 100
/** The page that searches all texts of an organization for a clinician before an erasure. */
const SEARCHING = { path: /^\/people\/[^/]+\/erase/, limitMs: 5000 }

const { values } = parseArgs({
  options: {
    recipients: { type: "string", default: "1000000" },
    events: { type: "string", default: "5000000" },
    "dead-letters": { type: "string", default: "100000" },
    rounds: { type: "string", default: "15" },
    // A folder that keeps the databases for the next run. Default: none.
    data: { type: "string" },
  },
})
const SIZES: Sizes = {
  recipients: Number(values.recipients),
  events: Number(values.events),
  deadLetters: Number(values["dead-letters"]),
}
const server = await startPostgres({
  durable: true,
  ...(values.data !== undefined && { dataDirectory: values.data }),
  settings: { max_wal_size: "8GB", maintenance_work_mem: "512MB" },
})
try {
  const running = await open()
  const slow: Array<string> = []
  console.log(`${"page".padEnd(44)} ${["median ms", "p95 ms", "most ms"].join("  ")}`)
  for (const { pattern, address } of await findPages(running)) {
    const times: Array<number> = []
    for (let round = 0; round < Number(values.rounds); round++) times.push(await ask(running, address))
    const sorted = times.toSorted((a, b) => a - b)
    const middle = median(sorted)
    const cells = [middle, sorted[Math.floor(sorted.length * 0.95)]!, sorted.at(-1)!].map((ms) =>
      ms.toFixed(0).padStart(9),
    )
    console.log(`${pattern.padEnd(44)} ${cells.join("  ")}`)
    const limitMs = SEARCHING.path.test(address) ? SEARCHING.limitMs : LIMIT_MS
    if (middle > limitMs) slow.push(pattern)
  }
  await running.stop()
  if (slow.length > 0) {
    console.error(`Above their limit: ${slow.join(", ")}`)
    process.exitCode = 1
  }
} finally {
  await server.stop()
}

async function open(): Promise<RunningConsole> {
  const name = "console"
  const url = Object.assign(new URL(server.url), { pathname: name })
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  const isThere = (await admin`select from pg_database where datname = ${name}`).length > 0
  if (!isThere) await admin.unsafe(`create database ${name}`)
  await admin.end()
  await Effect.runPromise(Effect.provide(runMigrations(), testDatabaseLayer(url.href)))
  if (!isThere) {
    const sql = postgres(url.href, { max: 1, onnotice: () => {}, connection: { TimeZone: "UTC" } })
    const startedAt = performance.now()
    await seed(sql, SIZES)
    console.log(`seeded in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
    await sql.end()
  }
  return startConsole(url.href)
}

/** Opens a page like a browser. Returns the milliseconds it took. */
async function ask(running: RunningConsole, address: string): Promise<number> {
  const startedAt = performance.now()
  const headers = { cookie: running.cookie, "accept-encoding": "br, gzip" }
  const [response] = (await once(get(`${running.url}${address}`, { headers }), "response")) as [IncomingMessage]
  await response.resume().toArray()
  if (response.statusCode! >= 500) throw new Error(`${address}: ${response.statusCode}`)
  return performance.now() - startedAt
}
