import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import postgres from "postgres"
import { parentOf } from "../cpuTime.ts"
import { MAX_IN_FLIGHT } from "../delivery/Candidate.ts"
import {
  type Backlog,
  type Bench,
  type Latency,
  measureBacklog,
  measureCalls,
  measureLatency,
  measurePublication,
  measureRestart,
} from "../delivery/measure.ts"
import { startReceiver } from "../delivery/startReceiver.ts"
import { median } from "../median.ts"
import { type Profile, profileShares } from "../profileShares.ts"
import { reportProfiles } from "../report.ts"
import { candidates } from "./delivery/candidates.ts"

// Compares the worker with alternatives: all deliver the same events to the same partner from the same PostgreSQL.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    deliveries: { type: "string", default: "40000" },
    only: { type: "string" },
    latency: { type: "boolean", default: true },
    /** Profiles only our worker and undici instead of measuring. */
    profile: { type: "boolean", default: false },
  },
  allowNegative: true,
})
const [rounds, deliveries] = [Number(values.rounds), Number(values.deliveries)]
const ENDPOINTS = 20
const CALLS_ONLY = "undici only"

const server = await startPostgres({ durable: true })
const receiver = await startReceiver()
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
const [{ pid }] = (await admin`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
const chosen = candidates.filter(({ name }) => values.only === undefined || name === values.only)
const benches = new Map<string, Bench>()
for (const candidate of chosen) {
  const database = candidate.name.replaceAll(/\W/g, "_")
  await admin.unsafe(`create database ${database}`)
  const databaseUrl = Object.assign(new URL(server.url), { pathname: `/${database}` }).href
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const urls = Array.from({ length: ENDPOINTS }, (_, i) => `${receiver.url}/${i}`)
  await candidate.setUp(sql, databaseUrl, urls)
  await sql.end()
  benches.set(candidate.name, { databaseUrl, postmaster: parentOf(pid), receiver, endpoints: ENDPOINTS })
}

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}`)
console.log(
  `${deliveries} deliveries to ${ENDPOINTS} endpoints a round, ${MAX_IN_FLIGHT} in flight, ${rounds} rounds\n`,
)

if (values.profile) await profile()
else {
  await measureThroughput()
  if (values.latency) await measureLatencies()
  await measureRestarts()
  await measurePublications()
}

for (const { close } of chosen) await close?.()
receiver.stop()
await admin.end()
await server.stop()

async function profile(): Promise<void> {
  const profiles = new Map<string, Profile>()
  for (const candidate of chosen) {
    const bench = benches.get(candidate.name)!
    const profile = await profileShares((flags) => measureBacklog({ ...bench, flags }, candidate, deliveries))
    profiles.set(candidate.name, profile)
  }
  const [bench] = benches.values()
  profiles.set(CALLS_ONLY, await profileShares((flags) => measureCalls({ ...bench!, flags }, deliveries)))
  reportProfiles("a backlog", "delivery", profiles)
}

async function measureThroughput(): Promise<void> {
  const results = new Map<string, Backlog[]>([...chosen.map(({ name }) => name), CALLS_ONLY].map((name) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const candidate of chosen) {
      results.get(candidate.name)!.push(await measureBacklog(benches.get(candidate.name)!, candidate, deliveries))
    }
    results.get(CALLS_ONLY)!.push(await measureCalls([...benches.values()][0]!, deliveries))
  }
  row("a backlog", ["deliveries/s", "CPU µs", "PostgreSQL µs", "peak MiB"])
  for (const [name, of] of results) {
    row(name, [
      median(of.map((it) => it.perSecond)).toFixed(0),
      median(of.map((it) => it.cpu)).toFixed(0),
      median(of.map((it) => it.databaseCpu)).toFixed(0),
      median(of.map((it) => it.memory)).toFixed(0),
    ])
  }
  const ours = results.get("ours")
  for (const [name, of] of results) {
    if (ours === undefined || of === ours) continue
    const ratios = of.map(({ perSecond }, i) => ours[i]!.perSecond / perSecond)
    row(`ours ÷ ${name}`, [
      median(ratios).toFixed(2),
      `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`,
    ])
  }
  console.log()
}

async function measureLatencies(): Promise<void> {
  for (const [label, load] of [
    ["publication to arrival, 10 a second", { perSecond: 10, seconds: 15 }],
    ["publication to arrival, 200 a second", { perSecond: 200, seconds: 10 }],
  ] as const) {
    row(label, ["p50 ms", "p95 ms", "p99 ms", "CPU ms", "PostgreSQL ms"])
    for (const candidate of chosen) {
      const { p50, p95, p99, cpu, databaseCpu }: Latency = await measureLatency(
        benches.get(candidate.name)!,
        candidate,
        load,
      )
      row(candidate.name, [...[p50, p95, p99].map(String), cpu.toFixed(1), databaseCpu.toFixed(1)])
    }
    console.log()
  }
}

/** Kills only our worker: the leases of the others last from 30 seconds to hours. */
async function measureRestarts(): Promise<void> {
  const candidate = chosen.find(({ name }) => name === "ours")
  if (candidate === undefined) return
  row("killed in a backlog and restarted", ["repeats", "first call s"])
  for (let round = 0; round < rounds; round++) {
    const { repeats, seconds } = await measureRestart(benches.get(candidate.name)!, candidate, deliveries)
    row(candidate.name, [String(repeats), seconds.toFixed(1)])
  }
}

async function measurePublications(): Promise<void> {
  row("publication of one event", ["CPU ms", "PostgreSQL ms"])
  for (const candidate of chosen) {
    const { cpu, databaseCpu } = await measurePublication(benches.get(candidate.name)!, candidate)
    row(candidate.name, [cpu.toFixed(2), databaseCpu.toFixed(2)])
  }
}

function row(head: string, cells: readonly string[]): void {
  console.log(`  ${head.padEnd(38)}${cells.map((cell) => cell.padStart(15)).join("")}`)
}
