import { describe, expect } from "@effect/vitest"
import { EventPublisher } from "@outreach/domain/events/Event"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { draftsOf } from "@outreach/testing/outreachOn"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi } from "@outreach/testing/seedCampaign"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { type EventCursor, type EventFilter, EventReader, MAX_EVENT_SCAN } from "../../src/events/EventReader.ts"

const { test } = testsOnDatabase()

/** Seeds a campaign that was sent to two recipients: the first opened the e-mail, the second clicked a link. */
const seed = Effect.gen(function* () {
  const { campaign, organization, recipients } = yield* seedSentCampaign({ recipients: 2 })
  const ids = recipients.map(({ id }) => id)
  for (const [id, outcome] of [
    [ids[0]!, "human opened"],
    [ids[1]!, "human clicked"],
  ] as const) {
    const events = yield* draftsOf(campaign, [[id, outcome]])
    yield* inTransaction(
      Effect.flatMap(commitTimestamp(organization.id), (at) =>
        EventPublisher.use(({ publish }) => publish(events, at)),
      ),
    )
  }
  return { campaign, organization, ids }
})

const list = Effect.fnUntraced(function* (filter: EventFilter, limit = 50) {
  const { page } = yield* EventReader
  const found: Array<Effect.Success<ReturnType<typeof page>>["rows"][number]> = []
  let next: EventCursor | null = null
  do {
    const { rows, next: after }: Effect.Success<ReturnType<typeof page>> = yield* page(filter, limit, next)
    found.push(...rows)
    next = after
  } while (next !== null)
  return found
})

const typesOf = (events: ReadonlyArray<{ readonly type: string }>) =>
  events.map(({ type }) => type.slice("outreach.".length))

const ALL = ["email_clicked", "email_opened", "email_sent", "email_sent", "recipients_published"]

describe("the log of events", () => {
  test("lists events of an organization or a campaign, newest first, with any page size", function* () {
    const { organization, campaign } = yield* seed
    const other = yield* seed
    for (const limit of [1, 2, 50]) {
      for (const filter of [{ organizationId: organization.id }, { campaignId: campaign.id }]) {
        const events = yield* list(filter, limit)
        expect(typesOf(events)).toEqual(ALL)
        expect(new Set(events.map(({ campaignId }) => campaignId))).toEqual(new Set([campaign.id]))
      }
    }
    const own = yield* list({ organizationId: organization.id })
    const ofBoth = yield* list({ from: own.at(-1)!.emittedAt }, 3)
    expect(ofBoth).toEqual([...(yield* list({ organizationId: other.organization.id })), ...own])
  })

  test("filters by type, recipient and time", function* () {
    const { organization, campaign, ids } = yield* seed
    const organizationId = organization.id
    const events = yield* list({ organizationId })
    const sent = { type: "outreach.email_sent" }
    expect(typesOf(yield* list({ organizationId, ...sent }, 1))).toEqual(["email_sent", "email_sent"])
    expect(typesOf(yield* list({ campaignId: campaign.id, ...sent }, 1))).toEqual(["email_sent", "email_sent"])
    for (const limit of [1, 50]) {
      const ofFirst = yield* list({ recipientId: ids[0]! }, limit)
      expect(typesOf(ofFirst)).toEqual(["email_opened", "email_sent", "recipients_published"])
      expect(ofFirst.map(({ recipientId }) => recipientId)).toEqual([ids[0], ids[0], null])
    }
    expect(yield* list({ recipientId: ids[0]!, ...sent })).toHaveLength(1)
    const [{ emittedAt: last }, { emittedAt: first }] = [events[0]!, events.at(-1)!]
    expect(typesOf(yield* list({ organizationId, from: last }))).toEqual(["email_clicked"])
    expect(typesOf(yield* list({ organizationId, from: first, to: last }))).toEqual(ALL.slice(1))
    expect(yield* list({ recipientId: ids[1]!, to: first })).toEqual([])
  })

  test("reads a bounded number of events for a page of a campaign, and continues after them", function* () {
    const { organization, campaign } = yield* seed
    yield* sql`
      insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
      select organization_id, make_id('evt'), type, 'cmp_of_another', program_id, emitted_at, emitted_at, body
      from events cross join generate_series(1, ${MAX_EVENT_SCAN}::int)
      where organization_id = ${organization.id} and type = 'outreach.email_clicked'`
    const { page } = yield* EventReader
    const first = yield* page({ campaignId: campaign.id }, 50, null)
    expect(first.rows.length).toBeLessThan(ALL.length)
    expect(first.next).not.toBeNull()
    expect(typesOf(yield* list({ campaignId: campaign.id })).toSorted()).toEqual(ALL.toSorted())
    expect(typesOf(yield* list({ campaignId: campaign.id, type: "outreach.email_opened" }))).toEqual(["email_opened"])
  })

  test("only finds an event and its clinician in its organization", function* () {
    const { organization, ids } = yield* seed
    const other = yield* seed
    const [event] = yield* list({ recipientId: ids[0]! })
    const { find } = yield* EventReader
    const { id } = event!
    expect(yield* find(id, null)).toMatchObject({ ...event, npi: npi(0), campaignName: "Spring" })
    expect(yield* find(id, organization.id)).toMatchObject({ id })
    expect(yield* find(id, other.organization.id)).toBeUndefined()
  })
})
