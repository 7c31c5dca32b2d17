import { describe, expect } from "@effect/vitest"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import type { Delivery, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { EventPublisher } from "@outreach/domain/events/Event"
import { createIdentifier, type DeliveryId } from "@outreach/domain/Identifier"
import { deliveryId } from "@outreach/postgres/deliveries/DeliveryLeasesPg"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { draftsOf } from "@outreach/testing/outreachOn"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { inTransaction, sql } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { DeliveryReader } from "../../src/deliveries/DeliveryReader.ts"
import { FailureGroupReader } from "../../src/deliveries/FailureGroupReader.ts"
import { deliveries, retryDeliveries } from "../../src/operations/deliveries.ts"
import { type Page, readRows } from "../../src/operations/List.ts"
import { ObjectFinder } from "../../src/operators/ObjectFinder.ts"

const { test } = testsOnDatabase()

type Seeded = Effect.Success<ReturnType<typeof seedCampaign>>

/** The deliveries that a worker claims for the endpoint of a seed. */
const takeFor = Effect.fnUntraced(function* ({ endpoint }: Seeded, most?: number) {
  const taken: ReadonlyArray<Delivery> = yield* (yield* workerOn()).take(most)
  return taken.filter(({ endpointId }) => endpointId === endpoint.id)
})

/** An endpoint with deliveries in every state: 5 delivered, 2 waiting for a retry, 2 dead letters, 3 waiting in the log. */
const seedAll = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  const { settle } = yield* workerOn()
  yield* publishSent(seeded.campaign, 9)
  const taken = yield* takeFor(seeded)
  yield* settle(taken.slice(0, 5))
  yield* settle(taken.slice(5, 7), { settlement: "retry", delay: 3600 }, 503)
  yield* settle(taken.slice(7), { settlement: "rejected" }, 404)
  yield* publishSent(seeded.campaign, 3)
  return seeded
})

type Filter = Parameters<typeof deliveries.read>[0]

/** Lists deliveries as a command does, which reads pages until they have enough. */
const list = (filter: Filter, limit = 100) =>
  Effect.map(readRows(deliveries, filter, { limit, after: null }), ({ rows }) => rows)

const allPages = Effect.fnUntraced(function* (filter: Filter, limit: number) {
  const pages: Array<ReadonlyArray<DeliverySummary>> = []
  let after: string | null = null
  do {
    const { rows, next }: Page<DeliverySummary> = yield* deliveries.read(filter, { limit, after })
    pages.push(rows)
    after = next
  } while (after !== null)
  return pages
})

describe("DeliveryReader", () => {
  test("shows the state of a delivery: in the log, being sent, in a batch, waiting for its next attempt, or dead", function* () {
    const repository = yield* DeliveryReader
    const { settle } = yield* workerOn()
    const seeded = yield* seedCampaign({ recipients: 0 })
    const { endpoint } = seeded
    const events = yield* publishSent(seeded.campaign, 6)
    const ids = events.map((eventId) => deliveryId(eventId, endpoint.id))
    const emitted = yield* sql<{ id: string; at: string }>`
      select id, emitted_at as at from events where id = any (${events}::text[])`
    const createdAt = new Map(emitted.map(({ id, at }) => [id, at]))
    /** Reads the states with `list` and with `find`. */
    const states = Effect.gen(function* () {
      const listed = yield* list({ endpointId: endpoint.id })
      expect(listed.map(({ id }) => id)).toEqual(ids.toSorted().toReversed())
      for (const delivery of listed) {
        expect((yield* repository.find(delivery.id)).delivery).toEqual(delivery)
        expect(delivery).toMatchObject({ endpointId: endpoint.id, createdAt: createdAt.get(delivery.eventId) })
        const ofState = yield* list({ state: delivery.state, endpointId: endpoint.id })
        expect(ofState).toEqual(listed.filter(({ state }) => state === delivery.state))
      }
      return ids.map((id) => listed.find((delivery) => delivery.id === id)!.state)
    })
    expect(yield* states).toEqual(Array(6).fill("pending"))
    expect(yield* repository.find(ids[0]!)).toMatchObject({ delivery: { attempts: 0, finishedAt: null }, attempts: [] })

    const [first, second, third, fourth, fifth] = yield* takeFor(seeded, 5)
    expect(yield* states).toEqual([...Array(5).fill("sending"), "pending"])
    yield* settle([first!, second!])
    yield* settle([third!], { settlement: "rejected" }, 410)
    yield* settle([fourth!], { settlement: "retry", delay: 60 }, 503)
    expect(yield* states).toEqual(["delivered", "delivered", "rejected", "pending", "sending", "pending"])
    const attempt = { number: 1, startedAt: "2026-11-21T00:00:00.000001Z", latencyMs: 12, status: 200 }
    expect(yield* repository.find(second!.id)).toMatchObject({
      delivery: { attempts: 1, dueAt: null, finishedAt: expect.any(String) },
      attempts: [{ ...attempt, outcome: "success", response: "ok" }],
    })
    expect(yield* repository.find(third!.id)).toMatchObject({ attempts: [{ status: 410, response: "gone" }] })
    expect(yield* repository.find(fourth!.id)).toMatchObject({ delivery: { attempts: 1 }, attempts: [{ status: 503 }] })

    yield* sql`update deliveries set due_at = clock_timestamp() where id = ${fourth!.id}`
    const [, again] = yield* takeFor(seeded, 1)
    expect(again!.id).toBe(fourth!.id)
    yield* settle([again!])
    yield* settle([fifth!])
    expect((yield* states).slice(3)).toEqual(["delivered", "delivered", "sending"])
    expect((yield* repository.find(fourth!.id)).attempts.map(({ number, status }) => [number, status])).toEqual([
      [1, 503],
      [2, 200],
    ])
    const absent = yield* createIdentifier("delivery")
    expect(yield* Effect.flip(repository.find(absent))).toMatchObject({ _tag: "DeliveryNotFound", deliveryId: absent })
  })

  test("lists all deliveries once over its pages, for each filter", function* () {
    yield* seedAll
    const { endpoint, organization, campaign } = yield* seedAll
    const all = yield* list({ endpointId: endpoint.id })
    expect(all).toHaveLength(12)
    const filters = [
      { endpointId: endpoint.id },
      { organizationId: organization.id },
      { campaignId: campaign.id },
      { endpointId: endpoint.id, type: "outreach.email_sent" },
    ]
    for (const filter of filters) {
      for (const limit of [1, 5, 12, 50]) expect((yield* allPages(filter, limit)).flat()).toEqual(all)
    }
    const pending = (yield* allPages({ organizationId: organization.id, state: "pending" }, 2)).flat()
    expect(pending).toEqual(all.filter(({ state }) => state === "pending"))
    expect(pending).toHaveLength(5)
    const opened = { organizationId: organization.id, type: "outreach.email_opened" }
    expect((yield* allPages(opened, 5)).flat()).toEqual([])
    const [to, from] = [all[4]!.createdAt, all[9]!.createdAt]
    expect((yield* allPages({ endpointId: endpoint.id, from, to }, 3)).flat()).toEqual(
      all.filter(({ createdAt }) => createdAt >= from && createdAt < to),
    )
  })

  test("finds the few deliveries of an endpoint, a campaign or an event among many newer ones", function* () {
    const { endpoint, organization } = yield* seedAll
    const dead = yield* seedDeadLetters(2)
    const other = yield* seedDeadLetters(1)
    // More rows than one step of a list or a page reads.
    yield* sql`
      insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
      select ${other.organization.id}, make_id('dlv'), ${other.endpoint.id}, ${other.eventId}, '[]', clock_timestamp()
      from generate_series(1, 10001)`
    const all = yield* list({ endpointId: endpoint.id })
    for (const filter of [{ endpointId: endpoint.id }, { organizationId: organization.id }]) {
      expect((yield* allPages(filter, 5)).flat()).toEqual(all)
      const delivered = yield* allPages({ ...filter, state: "delivered" }, 5)
      expect(delivered.length).toBeGreaterThan(1)
      expect(delivered.flat()).toEqual(all.filter(({ state }) => state === "delivered"))
    }
    const ids = (filter: Filter) => Effect.map(list(filter), (rows) => rows.map(({ id }) => id))
    const campaignId = dead.campaign.id
    const mine = yield* ids({ campaignId })
    expect(mine).toHaveLength(2)
    expect(yield* ids({ campaignId, type: "outreach.email_opened" })).toEqual([])
    expect(yield* ids({ endpointId: dead.endpoint.id })).toEqual(mine)
    expect(yield* ids({ eventId: dead.eventId })).toEqual(mine)
    expect(yield* ids({ eventId: dead.eventId, state: "delivered" })).toEqual([])
    expect(yield* (yield* DeliveryRepository).replay(mine[0]!)).toBe(true)
    expect(yield* ids({ campaignId, state: "pending" })).toHaveLength(1)
    yield* sql`delete from delivered where organization_id = ${other.organization.id}`
    yield* sql`delete from deliveries where organization_id = ${dead.organization.id}`
  })

  test("lists newest first, with any batches and any number of deliveries in the same millisecond", function* () {
    const worker = yield* workerOn()
    const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
    const other = yield* (yield* EndpointRepository).create({
      organizationId: organization.id,
      id: yield* createIdentifier("endpoint"),
      url: EndpointUrl.make("https://other.test/"),
      eventTypes: ["outreach.email_bounced"],
    })
    const publishBounced = inTransaction(
      Effect.gen(function* () {
        const recipients = yield* Effect.forEach(Array.from({ length: 60 }), () => createIdentifier("recipient"))
        const drafts = yield* draftsOf(
          campaign,
          recipients.map((id) => [id, "bounced"] as const),
        )
        const at = yield* commitTimestamp(campaign.organizationId)
        yield* EventPublisher.use(({ publish }) => publish(drafts, at))
        return drafts.map(({ id }) => id)
      }),
    )
    const publish = Effect.gen(function* () {
      const sent = yield* publishSent(campaign, 3)
      const bounced = yield* publishBounced
      return [
        ...[...sent, ...bounced].map((eventId) => deliveryId(eventId, endpoint.id)),
        ...bounced.map((eventId) => deliveryId(eventId, other.id)),
      ]
    })
    const ids = [...(yield* publish)]
    // Batches of deliveries that were claimed together; the id ranges of consecutive batches overlap.
    const all = yield* worker.take(1000)
    for (const { id } of [endpoint, other]) {
      const taken = all.filter(({ endpointId }) => endpointId === id)
      yield* worker.settle(taken.filter((_, i) => i % 3 === 0))
      yield* worker.settle(taken.filter((_, i) => i % 3 !== 0))
    }
    for (let i = 0; i < 3; i++) ids.push(...(yield* publish))
    ids.sort().reverse()
    const own = { organizationId: organization.id }
    for (const limit of [1, 30, 200, 5000]) {
      expect((yield* list(own, limit)).map(({ id }) => id)).toEqual(ids.slice(0, limit))
    }
    // With an event filter the list is read step by step.
    expect((yield* list({ campaignId: campaign.id }, 5000)).map(({ id }) => id)).toEqual(ids)
    const delivered = yield* list({ state: "delivered", endpointId: other.id })
    expect(delivered).toHaveLength(60)
    for (const { id, eventId } of [delivered[0]!, delivered.at(-1)!]) {
      const ofEvent = yield* list({ eventId })
      expect(ofEvent.map((row) => row.id)).toContain(id)
      expect(ofEvent).toHaveLength(2)
    }
  })

  test("returns the address and the sent body", function* () {
    const repository = yield* DeliveryReader
    const { endpoint } = yield* seedAll
    const [delivery] = yield* list({ endpointId: endpoint.id }, 1)
    const { request } = yield* repository.find(delivery!.id)
    expect(request.url).toBe(endpoint.url)
    expect(JSON.parse(request.body!)).toMatchObject({ event_id: delivery!.eventId })
  })
})

const retry = (deliveryId: DeliveryId) => retryDeliveries.run({ deliveryId, rate: 1 }, "")

test("retryDeliveries makes a delivery due that waits for its next attempt, and rejects every other state", function* () {
  const seeded = yield* seedAll
  const endpointId = seeded.endpoint.id
  const all = yield* list({ endpointId })
  const waiting = all.find(({ state, attempts }) => state === "pending" && attempts === 1)!
  yield* retry(waiting.id)
  const taken = (yield* takeFor(seeded)).filter(({ isRow }) => isRow)
  expect(taken).toMatchObject([{ id: waiting.id, attempt: 2 }])
  for (const state of ["sending", "delivered", "rejected"] as const) {
    const [delivery] = yield* list({ endpointId, state }, 1)
    expect(yield* Effect.flip(retry(delivery!.id))).toMatchObject({
      _tag: "NothingToRetry",
      state,
    })
  }
  expect(yield* Effect.flip(retry(yield* createIdentifier("delivery")))).toMatchObject({
    _tag: "DeliveryNotFound",
  })
})

test("a group of failures and a delivery belong to one organization", function* () {
  const finder = yield* ObjectFinder
  const { organization, endpoint } = yield* seedDeadLetters(1)
  const other = yield* seedDeadLetters(1)
  const [group] = yield* (yield* FailureGroupReader).list({ endpointId: endpoint.id }, 1)
  expect(yield* finder.areOwned(organization.id, [group!.id])).toBe(true)
  expect(yield* finder.areOwned(other.organization.id, [group!.id])).toBe(false)
})

describe("The last attempt of deliveries", () => {
  test("is listed, and lists are filtered by its status, outcome and latency", function* () {
    const { find } = yield* DeliveryReader
    const { endpoint } = yield* seedAll
    const of = (filter: Filter) => list({ endpointId: endpoint.id, ...filter })
    const states = (found: ReadonlyArray<DeliverySummary>) => found.map(({ state }) => state).toSorted()
    const retried = yield* of({ status: 503 })
    expect(retried).toMatchObject([
      { state: "pending", attempts: 1, lastStatus: 503, lastOutcome: "client_error", lastLatencyMs: 12 },
      { state: "pending", attempts: 1, lastStatus: 503 },
    ])
    expect((yield* find(retried[0]!.id)).delivery).toEqual(retried[0])
    expect(states(yield* of({ status: 404 }))).toEqual(["rejected", "rejected"])
    expect(states(yield* of({ status: 200 }))).toEqual(Array(5).fill("delivered"))
    expect(yield* of({ status: 200, state: "rejected" })).toEqual([])
    expect(yield* of({ status: 503, outcome: "success" })).toEqual([])
    expect(states(yield* of({ outcome: "client_error" }))).toEqual(["pending", "pending", "rejected", "rejected"])
    expect(yield* of({ outcome: "tls" })).toEqual([])
    expect(states(yield* of({ state: "dead" }))).toEqual(["rejected", "rejected"])
    const unsent = yield* of({ state: "pending" })
    expect(unsent.filter(({ lastOutcome }) => lastOutcome === null)).toHaveLength(3)

    yield* sql`update delivery_attempts set latency_ms = 2001 where delivery_id = ${retried[0]!.id}`
    expect(yield* of({ slowerThan: 2 })).toMatchObject([{ id: retried[0]!.id, lastLatencyMs: 2001 }])
    expect(yield* of({ slowerThan: 0, outcome: "client_error" })).toHaveLength(4)
  })

  test("is the one with the highest number, and the later one if two have the same number", function* () {
    const { endpoint, organization } = yield* seedAll
    const [delivery] = yield* list({ endpointId: endpoint.id, status: 503 }, 1)
    yield* sql`
      insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
      values (${organization.id}, ${delivery!.id}, 2, now(), 'outcome_unknown'),
        (${organization.id}, ${delivery!.id}, 2, now() + interval '1 second', 'tls')`
    const found = yield* list({ endpointId: endpoint.id, outcome: "tls" })
    expect(found).toMatchObject([{ id: delivery!.id, lastStatus: null, lastLatencyMs: null }])
    expect(yield* list({ endpointId: endpoint.id, outcome: "outcome_unknown" })).toEqual([])
  })

  test("orders the newest deliveries by its latency, deliveries without one last", function* () {
    const { endpoint } = yield* seedAll
    const [one, other] = yield* list({ endpointId: endpoint.id, status: 503 })
    yield* sql`update delivery_attempts set latency_ms = 3000 where delivery_id = ${other!.id}`
    yield* sql`update delivery_attempts set latency_ms = null where delivery_id = ${one!.id}`
    const found = yield* list({ endpointId: endpoint.id, slowest: true })
    expect(found).toHaveLength(9)
    expect([found[0]!.id, found.at(-1)!.id]).toEqual([other!.id, one!.id])
    expect(found[1]).toMatchObject({ lastLatencyMs: 12 })
    expect(yield* list({ endpointId: endpoint.id, slowest: true, state: "pending" }, 1)).toEqual([found[0]])
  })
})
