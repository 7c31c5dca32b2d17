import { describe, expect } from "@effect/vitest"
import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import type { CampaignId, EventId } from "@outreach/domain/Identifier"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { Timestamp } from "@outreach/domain/Timestamp"
import type { ListPage } from "@outreach/domain/Transaction"
import { EventFeed, type FeedPosition, feedFrom } from "@outreach/postgres/events/EventFeed"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql, value } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import fc from "fast-check"
import { beforeAll } from "vitest"
import { keepStatistics } from "../keepStatistics.ts"

const { run, test } = testsOnDatabase()

/** The number of monthly partitions: two years. */
const MONTHS = 24
const monthStart = (month: number): string => new Date(Date.UTC(2024, month, 1)).toISOString()
const timestamp = (iso: string): Timestamp => Timestamp.make(`${iso.slice(0, -1)}000Z`)

let seed: Effect.Success<ReturnType<typeof seedCampaign>>
beforeAll(async () => {
  await run(function* () {
    // The calls of a worker over time.
    for (const month of [0, 8, 16, MONTHS - 3]) {
      yield* sql`select add_partitions('events', ${monthStart(month)}::timestamptz)`
    }
    seed = yield* seedCampaign({ recipients: 0 })
  })
})

interface Seeded extends FeedPosition {
  readonly type: FeedEventType
}

const insertEvents = (organizationId: Organization["id"], campaignId: CampaignId, events: ReadonlyArray<Seeded>) =>
  sql`
      insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
      select ${organizationId}, id, type, ${campaignId}, 'pgm_1', at, at, '{}'
      from unnest(
        ${events.map(({ id }) => id)}::text[], ${events.map(({ type }) => type)}::text[],
        ${events.map(({ emittedAt }) => emittedAt)}::timestamptz[]) as event (id, type, at)`

/** Returns the partitions of events that an effect reads. */
const partitionsRead = <A, E, R>(effect: Effect.Effect<A, E, R>, planCacheMode = "force_custom_plan") =>
  inTransaction(
    Effect.gen(function* () {
      yield* sql`select set_config('plan_cache_mode', ${planCacheMode}, true)`
      const scans = sql<{ name: string; scans: number }>`
        select relname as name, (seq_scan + idx_scan)::int as scans from pg_stat_xact_user_tables
        where relid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass) order by relname`
      const before = new Map((yield* scans).map(({ name, scans }) => [name, scans]))
      const result = yield* effect
      const after = yield* scans
      return [
        after.filter(({ name, scans }) => scans > (before.get(name) ?? 0)).map(({ name }) => name),
        result,
      ] as const
    }),
  )

describe("a log of two years of months", () => {
  test("is only read from the month of the position, until the page is full", function* () {
    const { organization, campaign } = seed
    yield* keepStatistics("events")
    const endpoint = yield* (yield* EndpointRepository).create({
      organizationId: organization.id,
      id: "whe_00000000000000000000000000000001" as never,
      url: "https://partner.test/months" as never,
      eventTypes: null,
      since: timestamp("2024-11-02T00:00:00.000Z"),
    })
    yield* sql`
      insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
      select ${organization.id}, 'evt_' || lpad(to_hex(n), 32, '0'),
        case n % 4 when 0 then 'outreach.email_bounced' when 1 then 'outreach.email_opened' else 'outreach.email_sent' end,
        ${campaign.id}, ${campaign.programId}, at, at, '{}'
      from generate_series(1, 6000) n, lateral (select ${monthStart(0)}::timestamptz + n * interval '175 minutes' as at) time
      where at < ${monthStart(MONTHS)}::timestamptz`
    yield* sql`analyze events`

    const { page } = yield* EventFeed
    const after = { emittedAt: timestamp("2024-11-02T00:00:00.000Z"), id: "evt_0" as EventId }
    for (const types of [
      FEED_EVENT_TYPES,
      ["outreach.email_bounced"],
      ["outreach.email_sent", "outreach.email_bounced"],
    ] as const) {
      // The server may switch to a generic plan.
      for (const planCacheMode of ["force_custom_plan", "force_generic_plan"]) {
        for (const from of [after, feedFrom(after.emittedAt)]) {
          const statement = Effect.map(page(organization.id, types, from, 50), ({ rows }) => rows)
          const [read, found] = yield* partitionsRead(statement, planCacheMode)
          expect([found.length, read]).toEqual([50, ["events_2024_11"]])
        }
      }
    }
    for (const types of [null, ["outreach.email_bounced", "outreach.email_sent"]]) {
      const [read, found] = yield* partitionsRead(
        sql`select from events_after(${organization.id}, ${types}::text[], ${after.emittedAt}::timestamptz, '', 'infinity', 50)`,
      )
      expect([found.length, read]).toEqual([50, ["events_2024_11"]])
    }

    const { token, take } = yield* workerOn()
    yield* take(0)
    const leases = yield* DeliveryLeases
    const events: Array<EventId> = []
    for (const eventTypes of [null, ["outreach.email_bounced", "outreach.email_sent"]]) {
      yield* sql`update webhook_endpoints set event_types = ${eventTypes}::text[] where id = ${endpoint.id}`
      const [read, deliveries] = yield* partitionsRead(
        leases.read(token, [{ endpointId: endpoint.id, limit: 32, events }]),
      )
      events.push(...deliveries.map(({ eventId }) => eventId))
      expect([deliveries.length, read]).toEqual([32, ["events_2024_11"]])
    }
  })

  test("is paged in order, without gaps or repetitions, with any filter", function* () {
    const { page } = yield* EventFeed
    const services = yield* Effect.context<SqlClient.SqlClient>()
    const pages = Effect.fnUntraced(function* (
      organizationId: Organization["id"],
      types: ReadonlyArray<FeedEventType>,
      since: Timestamp,
      limit: number,
    ) {
      const found: Array<EventId> = []
      let after = feedFrom(since)
      while (true) {
        const { rows }: ListPage<FeedPosition> = yield* page(organizationId, types, after, limit)
        found.push(...rows.map(({ id }) => id))
        if (rows.length < limit) return found
        after = rows.at(-1)!
      }
    })
    // Before and after the partitions, at starts of months, and twice at the same time.
    const time = fc
      .tuple(fc.integer({ min: -3, max: MONTHS + 3 }), fc.constantFrom(0, 0, 1, 86_400_000))
      .map(([month, offset]) => timestamp(new Date(Date.parse(monthStart(month)) + offset).toISOString()))
    const types = fc.subarray([...FEED_EVENT_TYPES], { minLength: 1 })
    const event = fc.record({ emittedAt: time, type: fc.constantFrom(...FEED_EVENT_TYPES) })
    const property = fc.asyncProperty(
      fc.array(event, { maxLength: 60 }),
      types,
      time,
      fc.integer({ min: 1, max: 20 }),
      (drafts, types, since, limit) =>
        Effect.runPromiseWith(services)(
          Effect.gen(function* () {
            const { organization, campaign } = yield* Effect.provide(seedCampaign({ recipients: 0 }), seedServices)
            const events = drafts.map((draft, n) => ({ ...draft, id: `evt_${(n * 7919) % 100}x${n}` as EventId }))
            yield* insertEvents(organization.id, campaign.id, events)
            const expected = events
              .filter(({ type, emittedAt }) => types.includes(type) && emittedAt >= since)
              .sort((a, b) => compare(a.emittedAt, b.emittedAt) || compare(a.id, b.id))
            expect(yield* pages(organization.id, types, since, limit)).toEqual(expected.map(({ id }) => id))
          }),
        ),
    )
    const seedServices = yield* Effect.context<Effect.Services<ReturnType<typeof seedCampaign>>>()
    yield* Effect.promise(() => fc.assert(property, { numRuns: propertyRuns(2) }))
  })
})

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Counts the rows of events that an effect reads, in all partitions. */
const rowsRead = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  inTransaction(
    Effect.gen(function* () {
      yield* sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`
      const read = value<number>`
          select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
          where relid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass)`
      const before = yield* read
      const result = yield* effect
      return [(yield* read) - before, result] as const
    }),
  )

test("events of a rare type among 4,000 events of other types are read without the other events, by the feed, by an endpoint and by a replay", function* () {
  yield* keepStatistics("events")
  const { organization, campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
  yield* updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_bounced"] })
  yield* sql`
    insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
    select ${organization.id}, 'evt_' || lpad(to_hex(n), 32, '0'),
      case when n % 1000 = 0 then 'outreach.email_bounced' else 'outreach.email_sent' end, ${campaign.id}, ${campaign.programId},
      clock_timestamp(), clock_timestamp(), '{}'
    from generate_series(1, 4000) n`
  yield* sql`analyze events`

  const since = "2026-01-01T00:00:00.000000Z" as Timestamp
  const { page } = yield* EventFeed
  const [byFeed, events] = yield* rowsRead(
    Effect.map(page(organization.id, ["outreach.email_bounced"], feedFrom(since), 100), ({ rows }) => rows),
  )
  expect(events).toHaveLength(4)
  expect(byFeed).toBeLessThan(20)

  const { token, take } = yield* workerOn()
  yield* take(0)
  const leases = yield* DeliveryLeases
  const [byEndpoint, deliveries] = yield* rowsRead(leases.read(token, [{ endpointId: endpoint.id, limit: 32 }]))
  expect(deliveries).toHaveLength(4)
  expect(byEndpoint).toBeLessThan(20)

  const [byReplay, found] = yield* rowsRead(
    sql`select from events_after(${organization.id}, array['outreach.email_bounced'], ${since}::timestamptz, '', 'infinity', 100)`,
  )
  expect(found).toHaveLength(4)
  expect(byReplay).toBeLessThan(20)
})
