import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { adaptersFor, SECRETS_KEY, SECRETS_RING } from "@outreach/testing/adaptersFor"
import { publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, ManagedRuntime, Redacted } from "effect"
import type postgres from "postgres"
import { type Candidate, MAX_IN_FLIGHT, SECRET } from "./Candidate.ts"

const PROGRAM = "pgm_01980000000070008000000000000002"
const CAMPAIGN = "cmp_01980000000070008000000000000003"

// Each event goes to one endpoint, so each endpoint has its own organization.
const organizationId = (endpoint: number) => `org_0198000000007000800000000000${String(endpoint).padStart(4, "0")}`
const endpointId = (endpoint: number) => `whe_0198000000007000800000000000${String(endpoint).padStart(4, "0")}`

/** The worker as deployed. */
export const ours: Candidate = {
  name: "ours",
  main: fileURLToPath(import.meta.resolve("@outreach/worker/main")),
  env: {
    SECRETS_KEY: SECRETS_KEY.toString("base64"),
    SMTP_URL: "smtp://127.0.0.1:9",
    MAIL_FROM: "outreach@benchmark.test",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    LOG_LEVEL: "warn",
    WEBHOOK_CALLS_IN_FLIGHT: String(MAX_IN_FLIGHT),
  },
  setUp: async (sql, databaseUrl, urls) => {
    const database = databaseLayer({ database: databaseAt(databaseUrl), applicationName: "benchmark" })
    await Effect.runPromise(Effect.provide(runMigrations(), database))
    const cipher = SecretCipher.make(SECRETS_RING)
    const rows = urls.map((url, i) => ({ url, endpointId: endpointId(i), organizationId: organizationId(i) }))
    for (const { organizationId, endpointId, url } of rows) {
      await sql`insert into organizations (id, name) values (${organizationId}, 'Benchmark')`
      await sql`insert into organization_clock (organization_id, last) values (${organizationId}, clock_timestamp())`
      await sql`
        insert into programs (organization_id, id, slug, name) values (${organizationId}, ${PROGRAM}, 'heart', 'Heart')`
      await sql`
        insert into campaigns (organization_id, id, program_id, name, kind, subject, html, window_start, window_end)
        values (${organizationId}, ${CAMPAIGN}, ${PROGRAM}, 'Spring', 'traffic', 's', 'h', '2026-03-02', '2026-03-09')`
      await sql`
        insert into signing_secrets (organization_id, ciphertext)
        values (${organizationId}, ${cipher.encrypt(Redacted.make(SECRET), organizationId)})`
      await sql`
        insert into webhook_endpoints (id, organization_id, url) values (${endpointId}, ${organizationId}, ${url})`
      await sql`
        insert into endpoint_readers (endpoint_id, organization_id) values (${endpointId}, ${organizationId})`
      await sql`
        insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
        select organization_id, ${endpointId}, last, '~' from organization_clock where organization_id = ${organizationId}`
    }
  },
  // Writes events like `publishEvents`, in the order of the organizations, and notifies the worker like the service.
  publish: async (sql, publications) => {
    const organizations = [...new Set(publications.map(({ endpoint }) => organizationId(endpoint)))].toSorted()
    await sql`
      with stamp as (
        update organization_clock clock set last = greatest(clock_timestamp(), last + interval '1 microsecond')
        from unnest(${organizations}::text[]) as organization (id)
        where clock.organization_id = organization.id
        returning clock.organization_id, last
      )
      insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body)
      select published.organization_id, event_id, 'outreach.email_sent', ${CAMPAIGN}, ${PROGRAM}, null, last, last, body
      from unnest(
        ${publications.map(({ eventId }) => eventId)}::text[],
        ${publications.map(({ endpoint }) => organizationId(endpoint))}::text[], ${publications.map(({ body }) => body)}::text[]
      ) as published (event_id, organization_id, body)
      join stamp on stamp.organization_id = published.organization_id`
    for (const organization of organizations) hinted.add(`events ${organization}`)
    void hintSoon(sql)
  },
  openPublisher: async (databaseUrl) => {
    const runtime = ManagedRuntime.make(adaptersFor(databaseUrl))
    const { campaign } = await runtime.runPromise(seedCampaign({ recipients: 0 }))
    return { publish: () => runtime.runPromise(publishTogether(campaign, 1)), close: () => runtime.dispose() }
  },
  isDone: async (sql) =>
    (
      await sql`
      select from endpoint_readers reader join reader_positions using (endpoint_id)
      where cardinality(open) > 0 or exists (
        select from events
        where organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id))
      or exists (select from deliveries)
      limit 1`
    ).length === 0,
}

/** The pending notifications. As in the service, the first is sent immediately, and the next contains all that arrive in the 2 ms after it. */
const hinted = new Set<string>()
let isHinting = false
async function hintSoon(sql: postgres.Sql): Promise<void> {
  if (isHinting) return
  isHinting = true
  while (hinted.size > 0) {
    const payload = [...hinted].join()
    hinted.clear()
    await sql`select set_config('synchronous_commit', 'off', true), pg_notify('hints', ${payload})`.catch(() => {})
    await sleep(2)
  }
  isHinting = false
}

/** The fastest loop that we could write. */
export const handTuned: Candidate = {
  name: "hand-tuned loop",
  main: fileURLToPath(import.meta.resolve("./handTunedLoop.ts")),
  setUp: async (sql, _databaseUrl, urls) => {
    await sql`create schema hand`
    await sql`create table hand.endpoints (id text primary key, url text not null)`
    await sql`create table hand.events (id text primary key, body text not null)`
    await sql`
      create table hand.queue (
        id text primary key, endpoint_id text not null, event_id text not null references hand.events,
        attempts integer not null default 0, due_at timestamptz not null default clock_timestamp(), token uuid,
        lease_until timestamptz, created_at timestamptz not null default clock_timestamp()
      ) with (fillfactor = 70)`
    await sql`create index on hand.queue (due_at)`
    await sql`
      create table hand.history (
        id text primary key, endpoint_id text not null, event_id text not null, created_at timestamptz not null,
        finished_at timestamptz not null default clock_timestamp(), attempts jsonb not null
      )`
    await sql`insert into hand.endpoints ${sql(urls.map((url, i) => ({ id: endpointId(i), url })))}`
  },
  publish: async (sql, publications) => {
    await sql`
      with published as (
        select * from unnest(
          ${publications.map(({ eventId }) => eventId)}::text[], ${publications.map(({ deliveryId }) => deliveryId)}::text[],
          ${publications.map(({ endpoint }) => endpointId(endpoint))}::text[], ${publications.map(({ body }) => body)}::text[]
        ) as published (event_id, id, endpoint_id, body)
      ), event as (
        insert into hand.events select event_id, body from published
      ), queued as (
        insert into hand.queue (id, endpoint_id, event_id) select id, endpoint_id, event_id from published
      )
      select pg_notify('hand', '')`
  },
  isDone: async (sql) => (await sql`select from hand.queue limit 1`).length === 0,
}
