import { describe, expect } from "@effect/vitest"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { DeadLetterRepository } from "@outreach/domain/deliveries/DeadLetterRepository"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createIdentifier, type EndpointId } from "@outreach/domain/Identifier"
import { deliveryId } from "@outreach/postgres/deliveries/deliveryId"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { publishEvents } from "@outreach/postgres/events/publishEvents"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { draftsOf } from "@outreach/testing/outreachOn"
import { publishSent } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { backoffice } from "../../src/backoffice.ts"
import type { DeliveryFilter } from "../../src/deliveries/DeliveryFilter.ts"
import { DeliveryReader } from "../../src/deliveries/DeliveryReader.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))

const takeFor = <E, R>(endpointId: EndpointId, taking: Effect.Effect<ReadonlyArray<Delivery>, E, R>) =>
  Effect.map(taking, (deliveries) => deliveries.filter((delivery) => delivery.endpointId === endpointId))

/** Publishes events of a campaign in one transaction, whose ids have few milliseconds among them. */
const publishTogether = (campaign: Campaign, count: number) =>
  inTransaction(
    Effect.gen(function* () {
      const drafts = yield* draftsOf(
        campaign,
        yield* Effect.forEach(Array.from({ length: count }), () =>
          Effect.map(createIdentifier("recipient"), (id) => [id, "bounced"] as const),
        ),
      )
      yield* publishEvents(drafts, yield* commitTimestamp(campaign.organizationId))
      return drafts.map(({ id }) => id)
    }),
  )

describe("DeliveryReader", () => {
  test("lists deliveries newest first, by state and by endpoint", function* () {
    const repository = yield* DeliveryReader
    const { take, settle } = yield* workerOn()
    const { endpoint, campaign } = yield* seedCampaign({ recipients: 1 })
    yield* publishSent(campaign, 3)
    for (const [i, delivery] of (yield* takeFor(endpoint.id, take())).entries()) {
      yield* settle([delivery], { state: i < 2 ? "rejected" : "exhausted" }, 410)
    }
    yield* publishSent(campaign, 1)
    const list = (filter: { state?: "pending" | "rejected" | "exhausted" | "delivered"; limit?: number }) =>
      repository.list({ endpointId: endpoint.id, limit: 100, ...filter })
    const all = yield* list({})
    expect(all.map(({ state }) => state)).toEqual(["pending", "exhausted", "rejected", "rejected"])
    expect(yield* list({ state: "rejected" })).toEqual(all.slice(2))
    expect(yield* list({ state: "delivered" })).toEqual([])
    expect(yield* list({ limit: 2 })).toEqual(all.slice(0, 2))
  })

  test("lists deliveries by event, type and campaign, however many others are newer", function* () {
    const repository = yield* DeliveryReader
    const sql = yield* SqlClient.SqlClient
    const { organization, endpoint, campaign, eventId } = yield* seedDeadLetters(2)
    const list = (filter: DeliveryFilter) =>
      Effect.map(repository.list({ ...filter, limit: 3 }), (rows) => rows.map(({ id }) => id))
    const mine = (yield* repository.list({ endpointId: endpoint.id, limit: 10 })).map(({ id }) => id)
    expect(mine).toHaveLength(2)
    const other = yield* seedDeadLetters(1)
    // More than one step of the list looks at.
    yield* sql`
      insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
      select ${other.organization.id}, make_id('dlv'), ${other.endpoint.id}, ${other.eventId}, '[]', clock_timestamp()
      from generate_series(1, 20001)`
    expect(yield* list({ campaignId: campaign.id })).toEqual(mine)
    expect(yield* list({ campaignId: campaign.id, eventType: "outreach.email_sent" })).toEqual(mine)
    expect(yield* list({ campaignId: campaign.id, eventType: "outreach.email_opened" })).toEqual([])
    expect(yield* list({ eventId })).toEqual(mine)
    expect(yield* list({ eventId, state: "delivered" })).toEqual([])
    expect(yield* list({ campaignId: other.campaign.id })).toHaveLength(3)
    expect(yield* (yield* DeadLetterRepository).replay(mine[0]!)).toBe(true)
    expect(yield* list({ campaignId: campaign.id, state: "pending" })).toHaveLength(1)
    yield* sql`delete from delivered where organization_id = ${other.organization.id}`
    yield* sql`delete from deliveries where organization_id = ${organization.id}`
  })

  test("tells where a delivery stands: in the log, being sent, in a batch, waiting for its next attempt, or dead", function* () {
    const repository = yield* DeliveryReader
    const sql = yield* SqlClient.SqlClient
    const { take, settle } = yield* workerOn()
    const { endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
    const events = yield* publishSent(campaign, 6)
    const ids = events.map((eventId) => deliveryId(eventId, endpoint.id))
    const emitted = yield* sql<{
      id: string
      at: string
    }>`select id, emitted_at as at from events where id = any (${events}::text[])`
    const createdAt = new Map(emitted.map(({ id, at }) => [id, at]))
    /** Reads the states both ways, newest first. */
    const states = Effect.gen(function* () {
      const listed = yield* repository.list({ endpointId: endpoint.id, limit: 10 })
      expect(listed.map(({ id }) => id)).toEqual(ids.toSorted().toReversed())
      for (const delivery of listed) {
        expect((yield* repository.find(delivery.id)).delivery).toEqual(delivery)
        expect(delivery).toMatchObject({ endpointId: endpoint.id, createdAt: createdAt.get(delivery.eventId) })
        const { state } = delivery
        expect((yield* repository.list({ state, endpointId: endpoint.id, limit: 10 })).map(({ id }) => id)).toContain(
          delivery.id,
        )
      }
      return ids.map((id) => listed.find((delivery) => delivery.id === id)!.state)
    })
    expect(yield* states).toEqual(Array(6).fill("pending"))
    expect(yield* repository.find(ids[0]!)).toMatchObject({
      delivery: { attempts: 0, finishedAt: null },
      attempts: [],
    })

    const [first, second, third, fourth, fifth] = yield* takeFor(endpoint.id, take(5))
    expect(yield* states).toEqual([...Array(5).fill("sending"), "pending"])
    yield* settle([first!, second!])
    yield* settle([third!], { state: "rejected" }, 410)
    yield* settle([fourth!], { state: "retry", delaySeconds: 60 }, 503)
    expect(yield* states).toEqual(["delivered", "delivered", "rejected", "pending", "sending", "pending"])
    expect(yield* repository.find(second!.id)).toMatchObject({
      delivery: { attempts: 1, dueAt: null, finishedAt: expect.any(String) },
      attempts: [
        {
          number: 1,
          startedAt: "2026-11-21T00:00:00.000001Z",
          latencyMs: 12,
          status: 200,
          outcome: "success",
          response: "ok",
        },
      ],
    })
    expect(yield* repository.find(third!.id)).toMatchObject({ attempts: [{ status: 410, response: "gone" }] })
    expect(yield* repository.find(fourth!.id)).toMatchObject({
      delivery: { attempts: 1 },
      attempts: [{ status: 503 }],
    })

    yield* sql`update deliveries set due_at = clock_timestamp() where id = ${fourth!.id}`
    const [, again] = yield* takeFor(endpoint.id, take(1))
    expect(again!.id).toBe(fourth!.id)
    yield* settle([again!])
    yield* settle([fifth!])
    expect((yield* states).slice(3)).toEqual(["delivered", "delivered", "sending"])
    expect((yield* repository.find(fourth!.id)).attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 503],
      [2, 200],
    ])
  })

  test("lists newest first, page by page, whatever batches hold, and however many share a millisecond", function* () {
    const deliveries = yield* DeliveryReader
    const worker = yield* workerOn()
    const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
    const other = yield* (yield* EndpointRepository).create({
      organizationId: organization.id,
      id: yield* createIdentifier("endpoint"),
      url: EndpointUrl.make("https://other.test/"),
      eventTypes: ["outreach.email_bounced"],
    })
    const publish = Effect.gen(function* () {
      const sent = yield* publishSent(campaign, 10)
      const bounced = yield* publishTogether(campaign, 200)
      return [
        ...[...sent, ...bounced].map((eventId) => deliveryId(eventId, endpoint.id)),
        ...bounced.map((eventId) => deliveryId(eventId, other.id)),
      ]
    })
    const ids = [...(yield* publish)]
    // Batches of what was read together, of which some reach below others.
    const all = yield* worker.take(1000)
    for (const { id } of [endpoint, other]) {
      const taken = all.filter(({ endpointId }) => endpointId === id)
      yield* worker.settle(taken.filter((_, i) => i % 3 === 0))
      yield* worker.settle(taken.filter((_, i) => i % 3 !== 0))
    }
    ids.push(...(yield* publish))
    for (let i = 0; i < 6; i++) ids.push(...(yield* publish))
    ids.sort().reverse()
    const mine = (rows: ReadonlyArray<{ readonly id: string; readonly endpointId: string }>) =>
      rows.filter(({ endpointId }) => endpointId === endpoint.id || endpointId === other.id).map(({ id }) => id)
    for (const limit of [1, 30, 500, 2000, 5000]) {
      expect(mine(yield* deliveries.list({ limit }))).toEqual(ids.slice(0, limit))
    }
    // By a filter of the events it looks at them step by step.
    expect(mine(yield* deliveries.list({ campaignId: campaign.id, limit: 5000 }))).toEqual(ids)
    const delivered = yield* deliveries.list({ state: "delivered", endpointId: other.id, limit: 5000 })
    expect(delivered).toHaveLength(200)
    for (const { id, eventId } of [delivered[0]!, delivered.at(-1)!]) {
      expect((yield* deliveries.list({ eventId, limit: 10 })).map((row) => row.id)).toContain(id)
      expect(yield* deliveries.list({ eventId, limit: 10 })).toHaveLength(2)
    }
  })

  test("knows nothing of an id that is not a delivery's", function* () {
    const deliveryId = yield* createIdentifier("delivery")
    const refusal = yield* Effect.flip(Effect.flatMap(DeliveryReader, (deliveries) => deliveries.find(deliveryId)))
    expect(refusal).toMatchObject({ _tag: "DeliveryNotFound", deliveryId })
  })
})
