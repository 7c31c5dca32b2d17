import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import postgres from "postgres"
import { contenders } from "./delivery/contenders.ts"
import { makePublications } from "./delivery/makePublications.ts"
import { startReceiver } from "./delivery/startReceiver.ts"

// Does the delivery slow down as its queue grows, or while an old transaction keeps PostgreSQL from clearing up behind it?

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    waiting: { type: "string", default: "0,100000,2000000" },
    only: { type: "string" },
  },
})
const ENDPOINTS = 20
const worker = contenders.find(({ name }) => name === "ours")!
const server = await startPostgres()
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
const receiver = await startReceiver()
const urls = Array.from({ length: ENDPOINTS }, (_, i) => `${receiver.url}/${i}`)

if (values.only !== "held") await claimCosts(values.waiting.split(",").map(Number))
if (values.only !== "claims") await heldTransaction(Number(values.minutes) * 60)
receiver.stop()
await admin.end()
await server.stop()

/** Measures what it costs to claim 64 deliveries beside so many that wait, in turn; nothing stays claimed. */
async function claimCosts(sizes: readonly number[]): Promise<void> {
  const CLAIMS = 40
  const BATCH = 64
  const databases = new Map<number, postgres.Sql>()
  for (const waiting of sizes) {
    const sql = await openDatabase(`waiting_${waiting}`)
    // What is claimed, and what waits behind it: one event may wait in many deliveries here.
    await worker.publish(sql, makePublications(2000, ENDPOINTS))
    await sql`
      insert into deliveries (organization_id, endpoint_id, event_id, due_at)
      select event.organization_id, endpoint.id, event.id, clock_timestamp()
      from generate_series(1, ${Math.ceil(waiting / 2000 / ENDPOINTS)}::int), events event, webhook_endpoints endpoint`
    await sql`vacuum analyze`
    databases.set(waiting, sql)
  }
  const times = new Map<number, number[]>(sizes.map((waiting) => [waiting, []]))
  for (let i = 0; i < CLAIMS + 8; i++) {
    for (const [waiting, sql] of databases) {
      const [took, claimed] = await claimAndForget(sql, BATCH)
      if (claimed !== BATCH) throw new Error(`A claim of ${BATCH} took ${claimed}.`)
      // The first ones compile and plan.
      if (i >= 8) times.get(waiting)!.push(took)
    }
  }
  const base = median(times.get(sizes[0]!)!)
  for (const [waiting, took] of times) {
    const it = median(took)
    const label = `beside ${waiting.toLocaleString("en")} waiting`
    console.log(
      `  a claim of ${BATCH} ${label.padEnd(30)}${it.toFixed(2).padStart(8)} ms   ratio ${(it / base).toFixed(2)}`,
    )
  }
  for (const sql of databases.values()) await sql.end()
}

async function claimAndForget(sql: postgres.Sql, batch: number): Promise<readonly [ms: number, claimed: number]> {
  const tx = await sql.reserve()
  try {
    await tx`begin`
    const start = performance.now()
    const rows = await tx`
      select id from claim_deliveries(${batch}, 16, 512, 30, 16, array[]::text[], array[]::timestamptz[], null)`
    return [performance.now() - start, rows.length]
  } finally {
    await tx`rollback`
    tx.release()
  }
}

/** Lets the worker deliver as fast as it can for so long, without and with an old transaction beside it. */
async function heldTransaction(seconds: number): Promise<void> {
  const rates: number[] = []
  for (const held of [false, true]) {
    const name = held ? "held" : "free"
    const sql = await openDatabase(name)
    const holder = await sql.reserve()
    if (held) await holder`begin isolation level repeatable read`
    if (held) await holder`select pg_current_xact_id()`
    const rate = await rateOf(sql, addressOf(name), seconds)
    rates.push(rate)
    const pinned = await deadTuples(sql)
    if (held) await holder`rollback`
    holder.release()
    await sql`vacuum deliveries`
    const label = held ? "beside an open transaction" : "alone"
    console.log(
      `  ${seconds} s ${label.padEnd(28)}${rate.toFixed(0).padStart(7)} deliveries/s   dead rows ${pinned}, after it and a vacuum ${await deadTuples(sql)}`,
    )
    await sql.end()
  }
  console.log(`  rate beside an open transaction ÷ alone: ${(rates[1]! / rates[0]!).toFixed(2)}`)
}

async function rateOf(sql: postgres.Sql, databaseUrl: string, seconds: number): Promise<number> {
  const BACKLOG = 4000
  await receiver.reset()
  const child = spawn(process.execPath, [worker.main], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", DATABASE_URL: databaseUrl, ...worker.env },
    stdio: ["ignore", "ignore", "inherit"],
  })
  const ended = once(child, "exit")
  let published = 0
  const start = performance.now()
  let counted: { at: number; count: number } | undefined
  while (performance.now() - start < seconds * 1000) {
    const count = await receiver.count()
    // Warm after the first backlog.
    if (counted === undefined && count >= BACKLOG) counted = { at: performance.now(), count }
    if (published - count < BACKLOG) {
      await worker.publish(sql, makePublications(1000, ENDPOINTS))
      published += 1000
    } else await sleep(20)
  }
  const rate = ((await receiver.count()) - counted!.count) / ((performance.now() - counted!.at) / 1000)
  child.kill("SIGKILL")
  await ended
  return rate
}

async function openDatabase(name: string): Promise<postgres.Sql> {
  await admin.unsafe(`create database ${name}`)
  const sql = postgres(addressOf(name), { max: 2, onnotice: () => {} })
  await worker.setUp(sql, addressOf(name), urls)
  return sql
}

function addressOf(database: string): string {
  return Object.assign(new URL(server.url), { pathname: `/${database}` }).href
}

async function deadTuples(sql: postgres.Sql): Promise<number> {
  const [row] = await sql<{ dead: number }[]>`
    select n_dead_tup::int as dead from pg_stat_user_tables where relname = 'deliveries'`
  return row!.dead
}

function median(of: readonly number[]): number {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)]!
}
