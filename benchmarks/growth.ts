import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import postgres from "postgres"
import { cpuTime, parentOf } from "./cpuTime.ts"
import { ours } from "./delivery/candidates.ts"
import { createPublications } from "./delivery/createPublications.ts"
import { startReceiver } from "./delivery/startReceiver.ts"
import { type Claimed, measureClaim, seedSending } from "./growth/measureClaims.ts"
import { measurePublishing } from "./growth/measurePublishing.ts"
import { measureTurns } from "./growth/measureTurns.ts"
import { endFleet, signalFleet, startFleet } from "./growth/startFleet.ts"
import { median } from "./median.ts"
import { waitFor } from "./waitFor.ts"

// Does a delivery cost more beside many endpoints, many waiting events, an old transaction or other workers? Do hints slow down
// publishing? Does a claim of messages take longer beside many sending campaigns? Does a campaign wait for another organization's long one?
// Each scenario is measured in turn with its baseline, and the result is the ratio of the two.

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    rounds: { type: "string", default: "5" },
    deliveries: { type: "string", default: "20000" },
    idle: { type: "string", default: "30000" },
    waiting: { type: "string", default: "2000000" },
    minutes: { type: "string", default: "10" },
    seconds: { type: "string", default: "5" },
    claims: { type: "string", default: "200" },
    messages: { type: "string", default: "1000000" },
  },
})
const ROUNDS = Number(values.rounds)
const DELIVERIES = Number(values.deliveries)
const ENDPOINTS = 20
/** The organizations that many endpoints belong to. */
const ORGANIZATIONS = 500
const POLL_MS = 10
/** A minute covers each look of an idle worker but those of the hour. */
const IDLING_MS = 60_000
const SETTLING_MS = 10_000
const MAX_WAIT_MS = 300_000

const server = await startPostgres()
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
const [{ pid }] = (await admin`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
const postmaster = parentOf(pid)
const receiver = await startReceiver()
const slow = createServer((request, response) => {
  request.resume().on("end", () => setTimeout(() => response.end("ok"), 1000))
}).listen(0, "127.0.0.1")
await once(slow, "listening")

/** A database that is set up for a comparison. */
interface Scenario {
  readonly name: string
  readonly databaseUrl: string
  readonly sql: postgres.Sql
  /** How many endpoints each event is sent to. */
  readonly endpointsEach: number
}

/** What the worker's processes need, and PostgreSQL: CPU microseconds per delivery, or percents of a core. */
interface Cost {
  readonly worker: number
  readonly database: number
}

const parts = {
  idling: measureIdling,
  idle: measureIdleEndpoints,
  waiting: measureWaitingEvents,
  held: measureOpenTransaction,
  workers: measureSharedEndpoints,
  hints: measureHints,
  claims: measureClaims,
  turns: measureNewcomers,
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
  slow.close()
  slow.closeAllConnections()
  await admin.end()
  await server.stop()
}

/** Measures what a worker and PostgreSQL need while nothing happens, with few endpoints and with many. */
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

/** Measures deliveries to 60 endpoints of each organization, beside many that are idle. */
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
  const scenario = await openScenario(name, undefined, urls)
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

/** Measures deliveries beside many events that wait for a disabled endpoint, and for a slow one. */
async function measureWaitingEvents(): Promise<void> {
  const waiting = Number(values.waiting)
  const none = await openScenario("none")
  for (const kind of ["disabled", "slow"] as const) {
    const scenario = await openScenario(kind, kind)
    const { body } = createPublications(1, 1)[0]!
    await scenario.sql`
      insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
      select campaign.organization_id, 'evt_' || lpad(to_hex(n), 32, '0'), 'outreach.email_sent', campaign.id, program_id,
        last, last + n * interval '1 microsecond', ${body}
      from campaigns campaign
      join webhook_endpoints endpoint on endpoint.organization_id = campaign.organization_id
      join organization_clock clock on clock.organization_id = campaign.organization_id
      cross join generate_series(1, ${waiting}::int) n
      where url = ${slowUrl()}`
    await scenario.sql`
      update organization_clock clock set last = last + ${waiting}::int * interval '1 microsecond'
      from webhook_endpoints endpoint where endpoint.organization_id = clock.organization_id and url = ${slowUrl()}`
    await scenario.sql`vacuum analyze`
    await compareCosts(
      `beside ${waiting.toLocaleString("en")} events for a ${kind} endpoint ÷ beside none`,
      none,
      scenario,
    )
  }
}

/** Measures deliveries by several workers, which share the endpoints. */
async function measureSharedEndpoints(): Promise<void> {
  const one = await openScenario("one")
  const four = await openScenario("four")
  await compareCosts("of 4 workers ÷ of one", one, four, { workersOfSecond: 4 })
}

/** Measures the rate of deliveries beside a transaction that stays open. */
async function measureOpenTransaction(): Promise<void> {
  const seconds = Number(values.minutes) * 60
  const free = await openScenario("free")
  const held = await openScenario("held")
  const holder = await held.sql.reserve()
  await holder`begin isolation level repeatable read`
  await holder`select pg_current_xact_id()`
  const began = performance.now()
  const rates = { free: [] as number[], held: [] as number[] }
  const fleets = [await startFleet(free, 1), await startFleet(held, 1)] as const
  const slice = Math.min(20, seconds / 2)
  while (performance.now() - began < seconds * 1000) {
    for (const [i, scenario] of [free, held].entries()) {
      signalFleet(fleets[1 - i]!, "SIGSTOP")
      signalFleet(fleets[i]!, "SIGCONT")
      rates[scenario.name as keyof typeof rates].push(await measureRate(scenario, slice))
    }
  }
  for (const fleet of fleets) await endFleet(fleet)
  await holder`rollback`
  holder.release()
  const label = `rate beside a transaction held open for ${((performance.now() - began) / 60_000).toFixed(1)} min ÷ without`
  report(
    label,
    rates.held.map((rate, i) => rate / rates.free[i]!),
    `the last ${rates.held.at(-1)!.toFixed(0)} ÷ ${rates.free.at(-1)!.toFixed(0)} deliveries/s`,
  )
  for (const scenario of [free, held]) await scenario.sql.end()
}

/** Measures publishing with hints and without. */
async function measureHints(): Promise<void> {
  const { sql, databaseUrl } = await openScenario("hints")
  await sql.end()
  const rates = await measurePublishing({ databaseUrl, rounds: ROUNDS, seconds: Number(values.seconds) })
  report(
    "commits a second of 16 writers of 20 organizations, with hints ÷ without",
    rates.map(({ on, off }) => on / off),
    `the median ${median(rates.map(({ on }) => on)).toFixed(0)} ÷ ${median(rates.map(({ off }) => off)).toFixed(0)} a second`,
  )
}

/** Measures claims of 64 messages beside more and more sending campaigns, one claim of each in turn. */
async function measureClaims(): Promise<void> {
  const claims = Number(values.claims)
  const scenarios: Claimed[] = []
  for (const campaigns of [1, 100, 500, 2000]) {
    const { sql } = await openScenario(`claims_${campaigns}`, undefined, [])
    scenarios.push({ campaigns, sql })
    // Warming up, without rates and with them.
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
      // Medians of ten claims each: a single one says little.
      const ratios = times[at]!.flatMap((_, i) =>
        i % 10 === 9 ? [median(times[at]!.slice(i - 9, i + 1)) / median(times[0]!.slice(i - 9, i + 1))] : [],
      )
      report(
        `a claim${perMinute === null ? "" : " with rates"} beside ${campaigns} sending campaigns ÷ beside 1`,
        ratios,
        `the median ${median(times[at]!).toFixed(1)} ÷ ${median(times[0]!).toFixed(1)} ms`,
      )
    }
  }
  for (const { sql } of scenarios) await sql.end()
}

/** Measures how long a campaign of 100 takes beside another organization's long one, and by itself, without a rate and with one. */
async function measureNewcomers(): Promise<void> {
  const messages = Number(values.messages)
  const alone = await openScenario("alone", undefined, [])
  const beside = await openScenario("beside", undefined, [])
  await seedSending({ campaigns: 1, sql: beside.sql }, messages / 64)
  for (const perMinute of [undefined, 1200]) {
    const options = { perMinute, rounds: ROUNDS }
    const [aloneTook, besideTook] = [await measureTurns(alone, options), await measureTurns(beside, options)]
    const first = besideTook.map((it) => it.first)
    report(
      `a campaign of 100${perMinute === undefined ? "" : ` at ${perMinute} a minute`} beside one of ${messages.toLocaleString("en")} ÷ alone`,
      besideTook.map(({ last }, i) => last / aloneTook[i]!.last),
      `the median ${median(besideTook.map(({ last }) => last)).toFixed(1)} ÷ ${median(aloneTook.map(({ last }) => last)).toFixed(1)} s, the first message after ${median(first).toFixed(1)} s, at most ${Math.max(...first).toFixed(1)}`,
    )
  }
  for (const { sql } of [alone, beside]) await sql.end()
}

/** Measures the cost of a delivery in two scenarios in turn, and reports the ratio. */
async function compareCosts(
  label: string,
  first: Scenario,
  second: Scenario,
  { workersOfSecond = 1 }: { readonly workersOfSecond?: number } = {},
): Promise<void> {
  const costs: Array<readonly [Cost, Cost]> = []
  const scenarios = [
    [first, await startFleet(first, 1)],
    [second, await startFleet(second, workersOfSecond)],
  ] as const
  // The first round warms up.
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
  await second.sql.end()
  if (first.name !== "none") await first.sql.end()
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
    const rows = await scenario.sql`
      select from reader_positions join webhook_endpoints endpoint on endpoint.id = endpoint_id
      where cardinality(open) > 0 and url <> ${slowUrl()} limit 1`
    return rows.length === 0
  })
  const after = readCpu(fleet)
  return {
    worker: (after.worker - before.worker) / DELIVERIES,
    database: (after.database - before.database) / DELIVERIES,
  }
}

/** Reads the CPU microseconds of workers and of PostgreSQL up to now. */
function readCpu(fleet: readonly ChildProcess[]): Cost {
  return { worker: fleet.reduce((sum, { pid }) => sum + cpuTime(pid!), 0), database: cpuTime(postmaster) }
}

/** Measures the deliveries per second while more events wait than can be delivered. */
async function measureRate(scenario: Scenario, seconds: number): Promise<number> {
  const BACKLOG = 4000
  await receiver.reset()
  let published = 0
  let counted: { at: number; count: number } | undefined
  const start = performance.now()
  while (counted === undefined || performance.now() - start < seconds * 1000) {
    const count = await receiver.count()
    if (counted === undefined && count >= BACKLOG) counted = { at: performance.now(), count }
    if (published - count < BACKLOG) {
      await ours.publish(scenario.sql, createPublications(1000, ENDPOINTS))
      published += 1000
    } else await sleep(POLL_MS)
    if (performance.now() - start > MAX_WAIT_MS) throw new Error(`Only ${count} deliveries arrived.`)
  }
  const rate = ((await receiver.count()) - counted.count) / ((performance.now() - counted.at) / 1000)
  await waitFor(async () => (await receiver.count()) >= published)
  return rate
}

/** Prepares a database with endpoints that respond at once, twenty unless `urls` are given, and with one more for `kind`: disabled or slow. */
async function openScenario(
  name: string,
  kind?: "disabled" | "slow",
  urls = Array.from({ length: ENDPOINTS }, (_, i) => `${receiver.url}/${i}`),
): Promise<Scenario> {
  await admin.unsafe(`create database ${name}`)
  const databaseUrl = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  await ours.setUp(sql, databaseUrl, kind === undefined ? urls : [...urls, slowUrl()])
  if (kind === "disabled") await sql`update webhook_endpoints set enabled = false where url = ${slowUrl()}`
  return { name, databaseUrl, sql, endpointsEach: 1 }
}

function slowUrl(): string {
  return `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`
}

function report(label: string, ratios: readonly number[], figures: string): void {
  const spread = `from ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
  console.log(`${label}: ${median(ratios).toFixed(2)} (${spread}); ${figures}`)
}
