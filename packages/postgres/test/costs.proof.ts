import { type CalendarDate, DigestRepository } from "@outreach/domain/digest/Digest"
import { ErasureRepository } from "@outreach/domain/erasure/Erasure"
import { createIdentifier } from "@outreach/domain/Identifier"
import { type InboundMessage, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { READINGS } from "@outreach/domain/operators/facts"
import { ProgramRepository } from "@outreach/domain/programs/Programs"
import { FactReader, readFacts } from "@outreach/postgres/operators/FactReader"
import { KEY_RECIPIENTS } from "@outreach/testing/outreachOn"
import { SECRET_ID } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { fragment, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { expect } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { keepStatistics } from "./keepStatistics.ts"

const { test } = testsOnDatabase({ maxConnections: 1 })

test("storing an event costs the same in a large table as in a small one, with a plan for an empty table", function* () {
  const { receive } = yield* InboxRepository
  yield* keepStatistics("inbox")
  const { organization, endpoint } = yield* seedCampaign({ recipients: 0 })
  const message = (eventId: string): InboundMessage => ({
    organizationId: organization.id,
    endpointId: endpoint.id,
    secretId: SECRET_ID,
    eventId,
    type: "clinician.account_created",
    npi: null,
    body: "{}",
    traceparent: null,
  })
  // Repeated until PostgreSQL uses its generic plan.
  for (let n = 0; n < 12; n++) yield* receive(message(`evt_${n}`))
  yield* sql`
    insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, body, received_at)
    select ${organization.id}, 'evt_a' || n, ${endpoint.id}, ${SECRET_ID}, 'clinician.account_created', '{}', clock_timestamp()
    from generate_series(1, 20000) n`
  const reads = yield* Effect.forEach(["evt_b", "evt_1", "evt_a777"], (id) => blocksRead("inbox", receive(message(id))))
  expect(reads.map(([, receipt]) => receipt)).toEqual(["stored", "repeated", "repeated"])
  expect(Math.max(...reads.map(([blocks]) => blocks))).toBeLessThan(40)
})

const PROGRAMS = 20

/** Seeds an organization with a number of programs, and digest counts on a number of dates up to 2025-12-31. */
const history = Effect.fnUntraced(function* (dates: number) {
  const { organization } = yield* seedCampaign({ recipients: 0 })
  const repository = yield* ProgramRepository
  for (let n = 1; n < PROGRAMS; n++) {
    const id = yield* createIdentifier("program")
    yield* repository.create({
      organizationId: organization.id,
      id,
      slug: `program-${n}`,
      name: "Program",
      learnerTarget: null,
      completerTarget: null,
    })
  }
  const everyDate = fragment`
    select organization_id, id, date '2025-12-31' - n from programs, generate_series(0, ${dates - 1}::int) as n
    where organization_id = ${organization.id}`
  yield* sql`insert into digest_outreach (organization_id, program_id, date) ${everyDate}`
  yield* sql`
    insert into digest_funnel
    select organization_id, program_id, date, 1, 1, 1, 1, 1, 1 from digest_outreach where organization_id = ${organization.id}`
  return organization.id
})

test("a digest reads as much with a thousand dates as with one, and doesn't read events", function* () {
  for (const table of ["digest_outreach", "digest_funnel", "events"]) yield* keepStatistics(table)
  const [young, old] = [yield* history(1), yield* history(1000)]
  yield* sql`vacuum analyze`
  const digests = yield* DigestRepository
  const costOf = Effect.fnUntraced(function* (table: string, organizationId: typeof young, date: string) {
    let most = 0
    // PostgreSQL may switch to a generic plan after five executions.
    for (let n = 0; n < 12; n++) {
      const [blocks, records] = yield* blocksRead(table, digests.read(organizationId, date as CalendarDate))
      expect(records).toHaveLength(PROGRAMS)
      most = Math.max(most, blocks)
    }
    return most
  })
  for (const date of ["2025-12-31", "2024-06-01", "2026-01-20"]) {
    for (const table of ["digest_outreach", "digest_funnel"]) {
      // One look-up for each program: three index levels, one row, and the planner's reads.
      expect(yield* costOf(table, young, date)).toBeLessThanOrEqual(PROGRAMS * 5)
      expect(yield* costOf(table, old, date)).toBeLessThanOrEqual(PROGRAMS * 5)
    }
  }
  expect(yield* costOf("events", old, "2025-12-31")).toBe(0)
})

const readGauges = FactReader.use(({ readDue }) => Effect.all([readDue, readFacts(READINGS.state)]))

test("the gauges don't read deliveries before their due time, and count due ones up to a limit", function* () {
  const { campaign, endpoint, organization } = yield* seedCampaign({ recipients: 0 })
  const [eventId] = yield* publishSent(campaign, 1)
  const wait = (count: number, seconds: number) => sql`
    insert into deliveries (organization_id, endpoint_id, event_id, due_at, replay)
    select ${organization.id}, ${endpoint.id}, ${eventId}, clock_timestamp() + make_interval(secs => ${seconds}::int), n % 3 = 0
    from generate_series(1, ${count}::int) n`
  // Repeated until PostgreSQL uses its generic plan.
  const cost = Effect.gen(function* () {
    const reads = yield* Effect.all(Array.from({ length: 12 }, () => blocksRead("deliveries", readGauges)))
    const [, [due]] = reads.at(-1)!
    return {
      blocks: Math.max(...reads.slice(-4).map(([blocks]) => blocks)),
      count: due.deliveriesDue.live + due.deliveriesDue.replay,
    }
  })
  yield* keepStatistics("deliveries")
  yield* wait(30_000, 3600)
  yield* sql`vacuum analyze deliveries`
  const retries = yield* cost
  expect(retries.count).toBe(1)
  expect(retries.blocks).toBeLessThan(60)

  yield* wait(30_000, -3600)
  yield* sql`vacuum analyze deliveries`
  // Each queue is counted up to the cap.
  expect((yield* cost).count).toBe(20_000)
})

test("the gauges read little of a log with a long backlog, with many endpoints that have read all events", function* () {
  const { campaign, organization } = yield* seedCampaign({ recipients: 0 })
  const [eventId] = yield* publishSent(campaign, 1)
  for (const table of ["events", "endpoint_readers", "reader_positions"]) yield* keepStatistics(table)
  yield* sql`
    insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
    select organization_id, make_id('evt'), type, campaign_id, program_id, occurred_at, emitted_at + n * interval '1 microsecond', ''
    from events cross join generate_series(1, 200000) n where organization_id = ${organization.id} and id = ${eventId!}`
  const ids = fragment`select 'org_idle' || n as id from generate_series(1, 30000) n`
  yield* sql`insert into organizations (id, name) select id, 'Idle' from (${ids}) idle`
  yield* sql`insert into organization_clock (organization_id, last) select id, clock_timestamp() - interval '1 day' from (${ids}) idle`
  yield* sql`insert into webhook_endpoints (id, organization_id, url) select 'whe_' || id, id, '' from (${ids}) idle`
  yield* sql`insert into endpoint_readers (endpoint_id, organization_id) select 'whe_' || id, id from (${ids}) idle`
  yield* sql`
    insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
    select organization_id, 'whe_' || organization_id, last, '~' from organization_clock where organization_id in (${ids})`
  yield* sql`vacuum analyze events`
  yield* sql`vacuum analyze endpoint_readers`
  yield* sql`vacuum analyze reader_positions`
  const reads = yield* Effect.all(Array.from({ length: 12 }, () => blocksRead("events", readGauges)))
  const [blocks, [due]] = reads.at(-1)!
  expect([due.maxLagEvents.live, due.deliveriesDue.live]).toEqual([10_000, 10_000])
  // Ten thousand events are counted twice: in total and for the endpoint.
  expect(blocks).toBeLessThan(1000)
})

test("a campaign with only erased recipients costs two index look-ups, and one with a remaining recipient is found", function* () {
  const erasures = yield* ErasureRepository
  yield* Effect.forEach(["recipients", "recipient_keys"], keepStatistics)
  const { organization, program, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at, erased_at)
    select ${organization.id}, 'rcp_' || lpad(n::text, 8, '0'), ${campaign.id}, ${program.id}, lpad(n::text, 6, 'a'),
      lpad(n::text, 10, '0'), n || '@erased.invalid', now(), now(), now()
    from generate_series(1, 20000) n`
  yield* sql.unsafe(KEY_RECIPIENTS)
  yield* sql`update campaigns set status = 'completed', updated_at = now() - interval '13 months' where id = ${campaign.id}`
  yield* sql.unsafe("vacuum analyze recipients, recipient_keys, campaigns")
  const [blocks, none] = yield* blocksRead("recipients", erasures.findEnded(12, null))
  expect(none).toBeUndefined()
  expect(blocks).toBeLessThan(20)

  yield* sql`update recipients set npi = ${npi(0)}, erased_at = null where id = 'rcp_00010000'`
  yield* sql`update recipient_keys set npi = ${npi(0)} where recipient_id = 'rcp_00010000'`
  const found = { organizationId: organization.id, campaignId: campaign.id }
  expect(yield* erasures.findEnded(12, null)).toEqual(found)
  expect(yield* erasures.findEnded(12, found)).toBeUndefined()
  expect(yield* erasures.findEnded(14, null)).toBeUndefined()
})

test("a large batch with fields is imported within the statement's timeout, even without statistics about its campaign", function* () {
  const seed = { recipients: 20_000, fields: ["first_name"], fieldsOf: () => ({ first_name: "Ana" }) }
  yield* seedCampaign(seed)
  yield* sql`analyze`
  const { organization } = yield* seedCampaign(seed)
  expect(yield* sql`select count(*)::int from recipient_fields where organization_id = ${organization.id}`).toEqual([
    { count: 20_000 },
  ])
})
