import { parseArgs } from "node:util"
import { Deployment } from "@outreach/domain/Deployment"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { migrate } from "@outreach/postgres/migrate"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import postgres from "postgres"
import { startServer } from "./startServer.ts"

// Does a digest take longer with more events in the history? Requests digests of a short history and of a long one in turn.

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "10000000" },
    requests: { type: "string", default: "2000" },
  },
})
const ORGANIZATION = OrganizationId.make("org_01980000000070008000000000000001")
const PROGRAMS = 20
/** The long history has more dates than the short one, which has a single date. */
const EVENTS_PER_DATE = 10_000
const FIRST_DATE = Date.parse("2020-01-01")
const REQUESTS = Number(values.requests)
/** The maximum ratio of the medians. */
const MAX_RATIO = 1.2

const server = await startPostgres()
const admin = postgres(server.url, { max: 1, onnotice: () => {} })
const short = await openScenario("short", EVENTS_PER_DATE)
const long = await openScenario("long", Number(values.events))

const times = { short: [] as number[], long: [] as number[] }
for (let n = 0; n < REQUESTS + 200; n++) {
  // The order of the two histories alternates, and the date changes, also to the date after the history.
  const scenarios = n % 2 === 0 ? ([short, long] as const) : ([long, short] as const)
  for (const scenario of scenarios) {
    const took = await requestDigest(scenario, n)
    // The first requests compile, connect and plan.
    if (n >= 200) times[scenario.name].push(took)
  }
}
const ratio = median(times.long) / median(times.short)
for (const scenario of [short, long]) {
  const took = times[scenario.name]
  const dates = scenario.dates.length - 1
  const label = `${scenario.events.toLocaleString("en")} events on ${dates.toLocaleString("en")} ${dates === 1 ? "date" : "dates"}`
  console.log(
    `  a digest of ${PROGRAMS} programs, ${label.padEnd(36)} median ${median(took).toFixed(2)} ms   p99 ${quantile(took, 0.99).toFixed(2)} ms`,
  )
}
console.log(`  ratio of the medians ${ratio.toFixed(2)}, at most ${MAX_RATIO}`)
for (const scenario of [short, long]) await scenario.stop()
await admin.end()
await server.stop()
if (ratio > MAX_RATIO) process.exitCode = 1

interface Scenario {
  readonly name: "short" | "long"
  readonly events: number
  /** The dates of the history, and the date after. */
  readonly dates: readonly string[]
  readonly url: string
  readonly keys: readonly string[]
  readonly stop: () => Promise<void>
}

async function openScenario(name: Scenario["name"], events: number): Promise<Scenario> {
  const started = performance.now()
  await admin.unsafe(`create database ${name}`)
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  const layer = Layer.mergeAll(
    ApiKeyRepositoryPg,
    DigestRepositoryPg,
    SecureRandom.layerWebCrypto,
    Layer.succeed(Deployment, { livemode: false }),
  ).pipe(Layer.provideMerge(databaseLayer({ database: databaseAt(url), applicationName: "benchmark" })))
  await Effect.runPromise(Effect.provide(migrate, layer))
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { TimeZone: "UTC" } })
  await fill(sql, events)
  await sql.end()
  const dates = Array.from({ length: Math.ceil(events / EVENTS_PER_DATE) + 1 }, (_, n) =>
    new Date(FIRST_DATE + n * 86_400_000).toISOString().slice(0, 10),
  )
  // The counts were inserted directly, and must equal those that the service would have written.
  for (const date of [dates[0]!, dates.at(-2)!]) {
    const recount = DigestRepository.use((ledger) => ledger.recount(date as CalendarDate))
    const differences = await Effect.runPromise(Effect.provide(recount, layer))
    if (differences.length > 0) throw new Error(`The counts of ${date} are wrong: ${JSON.stringify(differences[0])}`)
  }
  const keys = await Effect.runPromise(Effect.provide(issueKeys(), layer))
  const { url: api, stop } = await startServer("ours", url)
  console.log(
    `  ${events.toLocaleString("en")} events were written in ${((performance.now() - started) / 1000).toFixed(0)} s`,
  )
  return { name, events, dates, url: api, keys, stop }
}

/** Requests the digest of a date. Uses each key ninety times, so that no key exceeds its rate limit. */
async function requestDigest({ url, keys, dates }: Scenario, n: number): Promise<number> {
  const date = dates[(n * 7919) % dates.length]!
  const start = performance.now()
  const response = await fetch(`${url}/v1/partners/consumer/digest?date=${date}`, {
    headers: { Authorization: `Bearer ${keys[Math.floor(n / 90)]}` },
  })
  const { data } = (await response.json()) as { data?: unknown[] }
  const took = performance.now() - start
  if (data?.length !== PROGRAMS) throw new Error(`The response to the digest of ${date} is ${response.status}.`)
  return took
}

function issueKeys() {
  const issue = issueKey({ organizationId: ORGANIZATION, name: "benchmark", scopes: ["digest:read"], expiresAt: null })
  const count = Math.ceil((REQUESTS + 200) / 90)
  return Effect.replicateEffect(
    Effect.map(issue, ({ text }) => Redacted.value(text)),
    count,
  )
}

/** Inserts minimal events and the digest's counts of them. */
async function fill(sql: postgres.Sql, events: number): Promise<void> {
  await sql`insert into organizations (id, name) values (${ORGANIZATION}, 'Benchmark')`
  await sql`
    insert into programs (organization_id, id, slug, name)
    select ${ORGANIZATION}, 'pgm_0198000000017000' || lpad(to_hex(n), 16, '8'), 'program-' || n, 'Program ' || n
    from generate_series(0, ${PROGRAMS - 1}::int) as n`
  await sql`
    insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body)
    select ${ORGANIZATION}, 'evt_' || lpad(to_hex(n), 32, '0'), type, 'cmp_0', program.id, 'rcp_' || n % 5000, stamp, stamp,
      case when type in ('outreach.email_opened', 'outreach.email_clicked')
        then '{"data":{"is_bot_suspected":false}}' else '{}' end
    from generate_series(0, ${events - 1}::int) as n
    join programs program on program.id = 'pgm_0198000000017000' || lpad(to_hex(n % ${PROGRAMS}::int), 16, '8')
    cross join lateral (select
      (array['outreach.email_sent', 'outreach.email_opened', 'outreach.email_sent', 'outreach.email_clicked',
        'outreach.email_bounced'])[1 + n / ${PROGRAMS}::int % 5] as type,
      timestamptz '2020-01-01Z' + n * (interval '1 day' / ${EVENTS_PER_DATE}::int) as stamp) as made`
  await sql`
    insert into digest_outreach (organization_id, program_id, date, sent, bounced, opened, clicked,
      unique_opened, unique_clicked, unsuspected_opened, unsuspected_clicked, unsuspected_unique_opened, unsuspected_unique_clicked)
    select organization_id, program_id, date, sent, bounced, opened, clicked,
      unique_opened, unique_clicked, opened, clicked, unique_opened, unique_clicked
    from (
      select organization_id, program_id, emitted_at::date as date,
        count(*) filter (where type = 'outreach.email_sent') as sent,
        count(*) filter (where type = 'outreach.email_bounced') as bounced,
        count(*) filter (where type = 'outreach.email_opened') as opened,
        count(*) filter (where type = 'outreach.email_clicked') as clicked,
        count(distinct recipient_id) filter (where type = 'outreach.email_opened') as unique_opened,
        count(distinct recipient_id) filter (where type = 'outreach.email_clicked') as unique_clicked
      from events group by organization_id, program_id, emitted_at::date
    ) counted`
  // One qualified clinician for each date and program, and the counts of them.
  await sql`
    insert into qualifications (organization_id, program_id, stage, npi, event_id, counted_at)
    select organization_id, program_id, 'learner_qualified', to_char(date, '"1"YYYYMMDD"0"'), 'evt_0', date::timestamptz
    from digest_outreach`
  await sql`
    insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
      account_created_total, learner_qualified_total, completer_qualified_total)
    select organization_id, program_id, date, 0, 1, 0, 0, row_number() over (partition by program_id order by date), 0
    from digest_outreach`
  await sql`vacuum analyze`
  await sql`checkpoint`
}

function median(of: readonly number[]): number {
  return quantile(of, 0.5)
}

function quantile(of: readonly number[], share: number): number {
  return of.toSorted((a, b) => a - b)[Math.floor(of.length * share)]!
}
