import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { migrate } from "@outreach/postgres/migrate"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { Effect } from "effect"
import postgres from "postgres"
import { findPages } from "./console/findPages.ts"
import { type Sizes, seed } from "./console/seed.ts"
import { type RunningConsole, startConsole } from "./console/startConsole.ts"
import { median } from "./median.ts"

// Does every page of the console answer within 100 ms beside a month of a large deployment, in at most 40 KB as it crosses the network? The same
// pages beside a thousandth of the rows are the baseline. Fails if the median of a page, or its size, is above the limit.

const LIMIT_MS = 100
/** The page that searches each text of an organization for one clinician, before an erasure. */
const SEARCHING = { path: /^\/people\/[^/]+\/erase/, limitMs: 5000 }
const LIMIT_BYTES = 40_000

const { values } = parseArgs({
  options: {
    recipients: { type: "string", default: "1000000" },
    events: { type: "string", default: "5000000" },
    "dead-letters": { type: "string", default: "100000" },
    rounds: { type: "string", default: "15" },
    // A folder that keeps the databases for the next run; default none.
    data: { type: "string" },
  },
})
const SIZES: Sizes = {
  recipients: Number(values.recipients),
  events: Number(values.events),
  deadLetters: Number(values["dead-letters"]),
}
/** Fewer rows would leave an organization without any. */
const thousandth = (count: number) => Math.max(100, Math.ceil(count / 1000))
const THOUSANDTH: Sizes = {
  recipients: thousandth(SIZES.recipients),
  events: thousandth(SIZES.events),
  deadLetters: thousandth(SIZES.deadLetters),
}

const server = await startPostgres({
  ...(values.data !== undefined && { dataDirectory: values.data }),
  settings: { max_wal_size: "8GB", maintenance_work_mem: "512MB" },
})
try {
  const large = await open("large", SIZES)
  const small = await open("small", THOUSANDTH)
  const pages = await findPages(large)
  const slow: Array<string> = []
  const heavy: Array<string> = []
  console.log(
    `${"page".padEnd(44)} ${["median ms", "p95 ms", "most ms", "KB sent", "÷ beside a thousandth"].join("  ")}`,
  )
  for (const { pattern, address } of pages) {
    let bytes = 0
    const times = { large: [] as Array<number>, small: [] as Array<number> }
    for (let round = 0; round < Number(values.rounds); round++) {
      const answer = await ask(large, address)
      bytes = Math.max(bytes, answer.bytes)
      times.large.push(answer.ms)
      times.small.push((await ask(small, address)).ms)
    }
    const sorted = times.large.toSorted((a, b) => a - b)
    const middle = median(sorted)
    const cells = [middle, sorted[Math.floor(sorted.length * 0.95)]!, sorted.at(-1)!].map((ms) =>
      ms.toFixed(0).padStart(9),
    )
    cells.push((bytes / 1000).toFixed(1).padStart(7))
    console.log(`${pattern.padEnd(44)} ${cells.join("  ")}  ${(middle / median(times.small)).toFixed(2)}`)
    const limitMs = SEARCHING.path.test(address) ? SEARCHING.limitMs : LIMIT_MS
    if (middle > limitMs) slow.push(pattern)
    if (bytes > LIMIT_BYTES) heavy.push(pattern)
  }
  await large.stop()
  await small.stop()
  if (slow.length > 0) console.error(`Above their limit: ${slow.join(", ")}`)
  if (heavy.length > 0) console.error(`Above ${LIMIT_BYTES / 1000} KB: ${heavy.join(", ")}`)
  if (slow.length + heavy.length > 0) process.exitCode = 1
} finally {
  await server.stop()
}

async function open(name: string, sizes: Sizes): Promise<RunningConsole> {
  const url = new URL(server.url)
  url.pathname = name
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  const isThere = (await admin`select from pg_database where datname = ${name}`).length > 0
  if (!isThere) await admin.unsafe(`create database ${name}`)
  await admin.end()
  await Effect.runPromise(Effect.provide(migrate, testDatabaseLayer(url.href)))
  if (!isThere) {
    const sql = postgres(url.href, { max: 1, onnotice: () => {}, connection: { TimeZone: "UTC" } })
    const began = performance.now()
    await seed(sql, sizes)
    console.log(`${name}: seeded in ${((performance.now() - began) / 1000).toFixed(0)} s`)
    await sql.end()
  }
  return startConsole(url.href)
}

/** Opens a page as a browser does. Returns how long it took, and how many bytes of it crossed the network. */
async function ask(running: RunningConsole, address: string): Promise<{ readonly ms: number; readonly bytes: number }> {
  const began = performance.now()
  const headers = { cookie: running.cookie, "accept-encoding": "br, gzip" }
  const [response] = (await once(get(`${running.url}${address}`, { headers }), "response")) as [IncomingMessage]
  let bytes = 0
  for await (const chunk of response) bytes += (chunk as Uint8Array).length
  if (response.statusCode! >= 500) throw new Error(`${address}: ${response.statusCode}`)
  return { ms: performance.now() - began, bytes }
}
