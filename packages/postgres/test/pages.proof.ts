import { FEED_EVENT_TYPES } from "@outreach/contract"
import { HitRepository } from "@outreach/domain/hits/Hits"
import type { CampaignId, EventId, RecipientId } from "@outreach/domain/Identifier"
import { RecipientRepository, recipientsFrom } from "@outreach/domain/recipients/Recipient"
import { Timestamp } from "@outreach/domain/Timestamp"
import type { ListPage } from "@outreach/domain/Transaction"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll, describe, expect } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { keepStatistics } from "./keepStatistics.ts"

const ROWS = 100_000
const LIMIT = 101
const { run, test } = testsOnDatabase({ maxConnections: 1 })
type Seed = Effect.Success<ReturnType<typeof seedCampaign>>
/** An organization, and a newcomer that had no rows when the statistics were made. */
let seed: Seed & { readonly newcomer: Seed }

/** The timestamp of a row; ten rows share each timestamp. */
const stampOf = (row: number) =>
  `${new Date(Date.UTC(2026, 0, 1) + 1000 * Math.floor(row / 10)).toISOString().slice(0, -1)}000Z` as Timestamp
const hex = (row: number) => row.toString(16).padStart(32, "0")

beforeAll(async () => {
  seed = await run(function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    const { organization, campaign, program } = seeded
    // Without rows in most partitions, the planner prefers to scan and sort.
    yield* sql`select from keep_partitions('events')`
    for (const table of ["recipients", "events"]) yield* keepStatistics(table)
    const newcomer = yield* seedCampaign({ recipients: 0 })
    // Every tenth recipient is in a second campaign, every 500th event is a bounce.
    yield* sql`
      insert into campaigns
      select (jsonb_populate_record(campaign, '{"id": "cmp_1"}')).* from campaigns campaign`
    yield* sql`
      insert into recipients
        (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
      select ${organization.id}, 'rcp_' || lpad(to_hex(row), 32, '0'),
        case when row % 10 = 0 then 'cmp_1' else ${campaign.id} end, ${program.id}, lpad(row::text, 6, '0'),
        (1000000000 + row)::text, 'clinician' || row || '@clinic.test', stamp, stamp
      from generate_series(0, ${ROWS - 1}::int) as row,
        lateral (select '2026-01-01Z'::timestamptz + (row / 10) * interval '1 second' as stamp) s`
    yield* sql`
      insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body)
      select ${organization.id}, 'evt_' || lpad(to_hex(row), 32, '0'),
        case when row % 500 = 0 then 'outreach.email_bounced' else 'outreach.email_sent' end,
        ${campaign.id}, ${program.id}, null, stamp, stamp, repeat('x', 500)
      from generate_series(0, ${ROWS - 1}::int) as row,
        lateral (select '2026-01-01Z'::timestamptz + (row / 10) * interval '1 second' as stamp) s`
    yield* sql`vacuum analyze recipients`
    yield* sql`vacuum analyze events`
    const { organization: other, campaign: theirs, program: ofTheirs } = newcomer
    yield* sql`
      insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
      select ${other.id}, id, ${theirs.id}, ${ofTheirs.id}, token, npi, email, created_at, updated_at + interval '1 day'
      from recipients where organization_id = ${organization.id} limit 20000`
    yield* sql`
      insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
      select ${other.id}, id, type, ${theirs.id}, ${ofTheirs.id}, occurred_at, emitted_at + interval '1 day', body
      from events where organization_id = ${organization.id} limit 20000`
    return { ...seeded, newcomer }
  })
})

/** Reads a page until PostgreSQL uses its generic plan, and returns the maximum number of blocks read. */
const cost = <E, R>(table: string, page: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(Effect.all(Array.from({ length: 8 }, () => blocksRead(table, page))), (reads) => {
    expect(reads.map(([, rows]) => rows.length)).toEqual(reads.map(() => LIMIT))
    return Math.max(...reads.map(([blocks]) => blocks))
  })

const rowsOf = <Row>({ rows }: ListPage<Row>) => rows

describe("a deep page reads as much as the first one", () => {
  const deep = 90_005
  const first = Timestamp.make("2025-01-01T00:00:00.000000Z")
  const afterRecipient = { updatedAt: stampOf(deep), id: `rcp_${hex(deep)}` as RecipientId }
  const afterEvent = { emittedAt: stampOf(deep), id: `evt_${hex(deep)}` as EventId }

  test("of recipients", function* () {
    const recipients = yield* RecipientRepository
    const page = (after: typeof afterRecipient) =>
      cost("recipients", Effect.map(recipients.page(seed.organization.id, after, LIMIT), rowsOf))
    const shallow = yield* page(recipientsFrom(first))
    expect(shallow).toBeLessThan(40)
    expect(yield* page(afterRecipient)).toBeLessThanOrEqual(shallow + 5)
  })

  test("of the recipients of a campaign", function* () {
    const recipients = yield* RecipientRepository
    for (const campaignId of [seed.campaign.id, "cmp_1" as CampaignId]) {
      const page = (after: typeof afterRecipient | undefined) =>
        cost("recipients", recipients.pageOfCampaign(seed.organization.id, campaignId, after, LIMIT))
      const shallow = yield* page(undefined)
      expect(shallow).toBeLessThan(120)
      expect(yield* page(afterRecipient)).toBeLessThanOrEqual(shallow + 5)
    }
  })

  test("of events, of all types, of some types, and of a rare one", function* () {
    const feed = yield* EventFeed
    const page = (types: Parameters<typeof feed.page>[1], after: typeof afterEvent) =>
      cost("events", Effect.map(feed.page(seed.organization.id, types, after, LIMIT), rowsOf))
    for (const types of [
      FEED_EVENT_TYPES,
      ["outreach.email_sent"],
      ["outreach.email_sent", "outreach.email_bounced", "outreach.email_opened"],
    ] as const) {
      const shallow = yield* page(types, feedFrom(first))
      expect(shallow).toBeLessThan(250)
      const late = types.length === 3 ? { ...afterEvent, emittedAt: stampOf(45_000) } : afterEvent
      expect(yield* page(types, late)).toBeLessThanOrEqual(shallow + 5)
    }
    // At most one block for each event and a few of the index, but not the 50,000 events between them.
    expect(yield* page(["outreach.email_bounced"], feedFrom(first))).toBeLessThan(LIMIT + 20)
  })
})

describe("for an organization that the planner's statistics don't know", () => {
  test("a page reads as much as that of another one", function* () {
    const after = Timestamp.make("2026-01-02T00:00:00.000000Z")
    const recipients = yield* RecipientRepository
    const page = Effect.map(recipients.page(seed.newcomer.organization.id, recipientsFrom(after), LIMIT), rowsOf)
    expect(yield* cost("recipients", page)).toBeLessThan(150)
    const feed = yield* EventFeed
    for (const types of [FEED_EVENT_TYPES, ["outreach.email_sent"]] as const) {
      const events = Effect.map(feed.page(seed.newcomer.organization.id, types, feedFrom(after), LIMIT), rowsOf)
      expect(yield* cost("events", events)).toBeLessThan(250)
    }
  })

  test("classifying hits looks up their recipients by key", function* () {
    yield* sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at)
    select organization_id, 'hit_' || substr(id, 5), id, 'open', 'GET', '198.51.100.7', '{}', '2026-01-02Z'
    from recipients where organization_id = ${seed.newcomer.organization.id}`
    const hits = yield* HitRepository
    const waiting = inTransaction(hits.lockWaiting(seed.newcomer.organization.id, LIMIT))
    expect(yield* cost("recipients", waiting)).toBeLessThan(5 * LIMIT)
  })
})
