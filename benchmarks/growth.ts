import type { ChildProcess } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import postgres from "postgres"
import { cpuTime, parentOf } from "./cpuTime.ts"
import { ours } from "./delivery/candidates.ts"
import { createPublications } from "./delivery/createPublications.ts"
import { startReceiver } from "./delivery/startReceiver.ts"
import { type Claimed, measureClaim, seedSending } from "./growth/measureClaims.ts"
import { endFleet, signalFleet, startFleet } from "./growth/startFleet.ts"
import { median } from "./median.ts"
import { waitFor } from "./waitFor.ts"

// Measures whether a delivery costs more with many endpoints, and whether a claim of messages takes longer with many sending campaigns.
// Each scenario is measured in turn with its baseline, and the result is the ratio of the two.

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "5" },
    deliveries: { type: "string", default: "20000" },
    idle: { type: "string", default: "30000" },
    claims: { type: "string", default: "200" },
  },
})
const ROUNDS = Number(values.rounds)
const DELIVERIES = Number(values.deliveries)
const ENDPOINTS = 20
/** The number of organizations that share the endpoints. */
const ORGANIZATIONS = 500
/** A minute includes every periodic task of an idle worker except the hourly ones. */
const IDLING_MS = 60_000
/** PostgreSQL plans the first five executions of a statement on each connection, which takes longer than running most of them. */
const SETTLING_MS = 300_000

const server = await startPostgres({ durable: true })
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
const [{ pid }] = (await admin`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
const postmaster = parentOf(pid)
const receiver = await startReceiver()
/** A database for a comparison. */
interface Scenario {
  readonly databaseUrl: string
  readonly sql: postgres.Sql
  /** The number of endpoints that receive each event. */
  readonly endpointsEach: number
}

/** The usage of the worker's processes and of PostgreSQL: CPU microseconds per delivery, or percent of a core. */
interface Cost {
  readonly worker: number
  readonly database: number
}

const parts = {
  endpoints: async () => {
    await measureIdling()
    await measureIdleEndpoints()
  },
  claims: measureClaims,
}
if (values.only !== undefined && !(values.only in parts)) {
  throw new Error(`--only must be one of ${Object.keys(parts).join(", ")}`)
}
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (values.only === undefined || values.only === name) await measure()
  }
} finally {
  receiver.stop()
  await admin.end()
  await server.stop()
}

/** Measures the idle usage of a worker and of PostgreSQL, with few endpoints and with many. */
async function measureIdling(): Promise<void> {
  for (const scenario of [await openScenario("idling"), await openManyEndpoints("idling_many")]) {
    const [{ count }] = (await scenario.sql`select count(*)::int from endpoint_readers`) as unknown as [
      { count: number },
    ]
    const fleet = await startFleet(scenario, 1)
    await sleep(SETTLING_MS)
    const before = readCpu(fleet)
    await sleep(IDLING_MS)
    const after = readCpu(fleet)
    await endFleet(fleet)
    await scenario.sql.end()
    const percent = (part: keyof Cost) => ((after[part] - before[part]) / IDLING_MS / 10).toFixed(1)
    console.log(
      `a worker of ${count.toLocaleString("en")} idle endpoints: ${percent("worker")} % of a core in the process, ${percent("database")} % in PostgreSQL`,
    )
  }
}

/** Measures deliveries to 60 endpoints of each organization, with many idle endpoints. */
async function measureIdleEndpoints(): Promise<void> {
  const few = await openScenario("few")
  const many = await openManyEndpoints("many")
  const active = ENDPOINTS * many.endpointsEach
  const label = `to ${active.toLocaleString("en")} of ${Number(values.idle).toLocaleString("en")} endpoints ÷ to ${ENDPOINTS} of ${ENDPOINTS}`
  await compareCosts(label, few, many)
}

/** Prepares a database of 500 organizations that share the endpoints. Twenty of them publish. */
async function openManyEndpoints(name: string): Promise<Scenario> {
  const endpointsEach = Math.round(Number(values.idle) / ORGANIZATIONS)
  const urls = Array.from({ length: ORGANIZATIONS }, (_, i) => `${receiver.url}/${i}`)
  const scenario = await openScenario(name, urls)
  await scenario.sql`
    insert into webhook_endpoints (id, organization_id, url)
    select 'whe_' || md5(organization_id || n), organization_id, url
    from webhook_endpoints cross join generate_series(2, ${endpointsEach}::int) n`
  await scenario.sql`
    insert into endpoint_readers (endpoint_id, organization_id) select id, organization_id from webhook_endpoints
    on conflict do nothing`
  await scenario.sql`
    insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
    select organization_id, endpoint_id, last, '~' from endpoint_readers join organization_clock using (organization_id)
    on conflict do nothing`
  await scenario.sql`vacuum analyze`
  return { ...scenario, endpointsEach }
}

/** Measures claims of 64 messages with increasing numbers of sending campaigns, one claim of each in turn. */
async function measureClaims(): Promise<void> {
  const claims = Number(values.claims)
  const scenarios: Claimed[] = []
  for (const campaigns of [1, 100, 500, 2000]) {
    const { sql } = await openScenario(`claims_${campaigns}`, [])
    scenarios.push({ campaigns, sql })
    // Warm-up, without rates and with them.
    await seedSending(scenarios.at(-1)!, 2 * claims + 100)
  }
  for (const perMinute of [null, 999_999]) {
    const times = scenarios.map(() => [] as number[])
    for (let i = -10; i < claims; i++) {
      for (const [at, scenario] of scenarios.entries()) {
        const took = await measureClaim(scenario, perMinute)
        if (i >= 0) times[at]!.push(took)
      }
    }
    for (const [at, { campaigns }] of scenarios.entries()) {
      if (at === 0) continue
      // Medians of ten claims, because single claims vary too much.
      const ratios = times[at]!.flatMap((_, i) =>
        i % 10 === 9 ? [median(times[at]!.slice(i - 9, i + 1)) / median(times[0]!.slice(i - 9, i + 1))] : [],
      )
      report(
        `a claim${perMinute === null ? "" : " with rates"} with ${campaigns} sending campaigns ÷ with 1`,
        ratios,
        `the median ${median(times[at]!).toFixed(1)} ÷ ${median(times[0]!).toFixed(1)} ms`,
      )
    }
  }
  for (const { sql } of scenarios) await sql.end()
}

/** Measures the cost of a delivery in two scenarios in turn, and reports the ratio. */
async function compareCosts(label: string, first: Scenario, second: Scenario): Promise<void> {
  const costs: Array<readonly [Cost, Cost]> = []
  const scenarios = [
    [first, await startFleet(first, 1)],
    [second, await startFleet(second, 1)],
  ] as const
  // The first round is the warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const measured: Cost[] = []
    for (const [scenario, fleet] of scenarios) measured.push(await measureCost(scenario, fleet))
    if (round > 0) costs.push(measured as unknown as readonly [Cost, Cost])
  }
  for (const [, fleet] of scenarios) await endFleet(fleet)
  for (const part of ["worker", "database"] as const) {
    const [a, b] = [0, 1].map((i) => median(costs.map((pair) => pair[i]![part])))
    report(
      `${part === "worker" ? "process" : "PostgreSQL"} CPU ${label}`,
      costs.map(([a, b]) => b[part] / a[part]),
      `the median ${b!.toFixed(1)} ÷ ${a!.toFixed(1)} µs a delivery`,
    )
  }
  await first.sql.end()
  await second.sql.end()
}

/** Publishes events while the workers are stopped, and then measures their delivery. */
async function measureCost(scenario: Scenario, fleet: readonly ChildProcess[]): Promise<Cost> {
  await receiver.reset()
  const publications = createPublications(Math.ceil(DELIVERIES / scenario.endpointsEach), ENDPOINTS)
  signalFleet(fleet, "SIGSTOP")
  for (let i = 0; i < publications.length; i += 1000) await ours.publish(scenario.sql, publications.slice(i, i + 1000))
  const before = readCpu(fleet)
  signalFleet(fleet, "SIGCONT")
  await waitFor(async () => (await receiver.count()) >= DELIVERIES)
  await waitFor(async () => {
    const rows = await scenario.sql`select from reader_positions where cardinality(open) > 0 limit 1`
    return rows.length === 0
  })
  const after = readCpu(fleet)
  return {
    worker: (after.worker - before.worker) / DELIVERIES,
    database: (after.database - before.database) / DELIVERIES,
  }
}

/** Reads the CPU microseconds of workers and of PostgreSQL since their start. */
function readCpu(fleet: readonly ChildProcess[]): Cost {
  return { worker: fleet.reduce((sum, { pid }) => sum + cpuTime(pid!), 0), database: cpuTime(postmaster) }
}

/** Prepares a database with endpoints that respond immediately, twenty unless `urls` are given. */
async function openScenario(
  name: string,
  urls = Array.from({ length: ENDPOINTS }, (_, i) => `${receiver.url}/${i}`),
): Promise<Scenario> {
  await admin.unsafe(`create database ${name}`)
  const databaseUrl = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  await ours.setUp(sql, databaseUrl, urls)
  return { databaseUrl, sql, endpointsEach: 1 }
}

function report(label: string, ratios: readonly number[], figures: string): void {
  const spread = `from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  console.log(`${label}: ${median(ratios).toFixed(2)} (${spread}); ${figures}`)
}
