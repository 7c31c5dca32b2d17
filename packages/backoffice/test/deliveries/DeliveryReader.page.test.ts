import { describe, expect } from "@effect/vitest"
import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { createIdentifier, type DeliveryId, lowestIdentifierAt, madeAt } from "@outreach/domain/Identifier"
import { effectTest } from "@outreach/testing/effectTest"
import { publishSent } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { backoffice } from "../../src/backoffice.ts"
import { DeliveryReader } from "../../src/deliveries/DeliveryReader.ts"
import { FailureGroupReader } from "../../src/deliveries/FailureGroupReader.ts"
import { retryDelivery } from "../../src/deliveries/retryDelivery.ts"
import { ObjectFinder } from "../../src/operators/ObjectFinder.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))

/** An endpoint with deliveries of every state: 5 delivered, 2 that wait for a retry, 2 dead letters, 3 that wait in the log. */
const seedAll = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  const { take, settle } = yield* workerOn()
  yield* publishSent(seeded.campaign, 9)
  const taken = (yield* take()).filter(({ endpointId }) => endpointId === seeded.endpoint.id)
  yield* settle(taken.slice(0, 5))
  yield* settle(taken.slice(5, 7), { state: "retry", delaySeconds: 3600 }, 503)
  yield* settle(taken.slice(7), { state: "rejected" }, 404)
  yield* publishSent(seeded.campaign, 3)
  return seeded
})

/** Reads all pages of a number of deliveries. */
const allPages = Effect.fnUntraced(function* (
  filter: Omit<Parameters<DeliveryReader["Service"]["page"]>[0], "limit">,
  limit: number,
) {
  const repository = yield* DeliveryReader
  const pages: Array<ReadonlyArray<DeliverySummary>> = []
  let before = filter.before
  do {
    const { deliveries, next }: { deliveries: ReadonlyArray<DeliverySummary>; next: DeliveryId | null } =
      yield* repository.page({ ...filter, ...(before && { before }), limit })
    pages.push(deliveries)
    before = next ?? undefined
  } while (before !== undefined)
  return pages
})

describe("DeliveryReader.page", () => {
  test("lists all deliveries once over its pages, in the order of `list`, whatever they are of", function* () {
    const repository = yield* DeliveryReader
    yield* seedAll
    const { endpoint, organization, campaign } = yield* seedAll
    const all = yield* repository.list({ endpointId: endpoint.id, limit: 100 })
    expect(all).toHaveLength(12)
    const filters = [
      { endpointId: endpoint.id },
      { organizationId: organization.id },
      { campaignId: campaign.id },
      { endpointId: endpoint.id, eventType: "outreach.email_sent" },
    ]
    for (const filter of filters) {
      for (const limit of [1, 5, 12, 50]) expect((yield* allPages(filter, limit)).flat()).toEqual(all)
    }
    const pending = (yield* allPages({ organizationId: organization.id, state: "pending" }, 2)).flat()
    expect(pending).toEqual(all.filter(({ state }) => state === "pending"))
    expect(pending).toHaveLength(5)
    expect(
      (yield* allPages({ organizationId: organization.id, eventType: "outreach.email_opened" }, 5)).flat(),
    ).toEqual([])
  })

  test("finds the few deliveries of an endpoint though many others are newer, and says where it goes on", function* () {
    const repository = yield* DeliveryReader
    const sql = yield* SqlClient.SqlClient
    const { endpoint, organization } = yield* seedAll
    const other = yield* seedCampaign({ recipients: 0 })
    // More than one page looks at.
    yield* sql`
      insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
      select ${other.organization.id}, make_id('dlv'), ${other.endpoint.id}, make_id('evt'), '[]', clock_timestamp()
      from generate_series(1, 30001)`
    const all = yield* repository.list({ endpointId: endpoint.id, limit: 100 })
    for (const filter of [{ endpointId: endpoint.id }, { organizationId: organization.id }]) {
      const pages = yield* allPages(filter, 5)
      expect(pages.flat()).toEqual(all)
      const delivered = yield* allPages({ ...filter, state: "delivered" }, 5)
      expect(delivered.length).toBeGreaterThan(1)
      expect(delivered.flat()).toEqual(all.filter(({ state }) => state === "delivered"))
    }
    yield* sql`delete from delivered where organization_id = ${other.organization.id}`
  })

  test("keeps to the ids between two times", function* () {
    const { endpoint } = yield* seedAll
    const all = (yield* allPages({ endpointId: endpoint.id }, 50)).flat()
    const at = madeAt(all[4]!.id)
    const since = lowestIdentifierAt("delivery", at)
    const before = lowestIdentifierAt("delivery", at + 1)
    const within = all.filter(({ id }) => madeAt(id) === at)
    expect((yield* allPages({ endpointId: endpoint.id, since, before }, 50)).flat()).toEqual(within)
  })
})

describe("retryDelivery", () => {
  test("makes a delivery due now that waits for its next attempt, and nothing else", function* () {
    const repository = yield* DeliveryReader
    const { endpoint } = yield* seedAll
    const { take } = yield* workerOn()
    const all = yield* repository.list({ endpointId: endpoint.id, limit: 100 })
    const waiting = all.find(({ state, attempts }) => state === "pending" && attempts === 1)!
    yield* retryDelivery(waiting.id)
    const taken = (yield* take()).filter(({ endpointId, isRow }) => endpointId === endpoint.id && isRow)
    expect(taken).toMatchObject([{ id: waiting.id, attempt: 2 }])
    for (const state of ["sending", "delivered", "rejected"]) {
      const { id } = (yield* repository.list({ endpointId: endpoint.id, limit: 100 })).find(
        (each) => each.state === state,
      )!
      expect(yield* Effect.flip(retryDelivery(id))).toMatchObject({ _tag: "NothingToRetry", state })
    }
    expect(yield* Effect.flip(retryDelivery(yield* createIdentifier("delivery")))).toMatchObject({
      _tag: "DeliveryNotFound",
    })
  })
})

describe("DeliveryReader.request", () => {
  test("returns the address and the body that is sent", function* () {
    const repository = yield* DeliveryReader
    const { endpoint } = yield* seedAll
    const [delivery] = yield* repository.list({ endpointId: endpoint.id, limit: 1 })
    const { url, standardWebhooks, body } = yield* repository.request(delivery!)
    expect({ url, standardWebhooks }).toEqual({ url: endpoint.url, standardWebhooks: false })
    expect(JSON.parse(body!)).toMatchObject({ event_id: delivery!.eventId })
  })
})

test("a group of failures and a delivery are their organization's own", function* () {
  const own = yield* ObjectFinder
  const { organization, endpoint } = yield* seedDeadLetters(1)
  const other = yield* seedDeadLetters(1)
  const [group] = yield* (yield* FailureGroupReader).list({ endpointId: endpoint.id }, 1)
  expect(yield* own.areOwned(organization.id, [group!.id])).toBe(true)
  expect(yield* own.areOwned(other.organization.id, [group!.id])).toBe(false)
})

describe("The last attempt of deliveries", () => {
  test("stands in lists, and they are filtered by its status, outcome and latency", function* () {
    const { list, page, find } = yield* DeliveryReader
    const sql = yield* SqlClient.SqlClient
    const { endpoint } = yield* seedAll
    const of = { endpointId: endpoint.id, limit: 100 }
    const states = (found: ReadonlyArray<DeliverySummary>) => found.map(({ state }) => state).toSorted()
    const both = Effect.fnUntraced(function* (filter: Partial<Parameters<typeof list>[0]>) {
      const listed = yield* list({ ...of, ...filter })
      const paged = yield* page({ ...of, ...filter })
      expect(paged.deliveries).toEqual(listed)
      return listed
    })
    const retried = yield* both({ status: 503 })
    expect(retried).toMatchObject([
      { state: "pending", attempts: 1, lastStatus: 503, lastOutcome: "client_error", lastLatencyMs: 12 },
      { state: "pending", attempts: 1, lastStatus: 503 },
    ])
    expect((yield* find(retried[0]!.id)).delivery).toEqual(retried[0])
    expect(states(yield* both({ status: 404 }))).toEqual(["rejected", "rejected"])
    expect(states(yield* both({ status: 200 }))).toEqual(Array(5).fill("delivered"))
    expect(yield* both({ status: 200, state: "rejected" })).toEqual([])
    expect(yield* both({ status: 503, outcome: "success" })).toEqual([])
    expect(states(yield* both({ outcome: "client_error" }))).toEqual(["pending", "pending", "rejected", "rejected"])
    expect(states(yield* both({ outcome: "success" }))).toEqual(Array(5).fill("delivered"))
    expect(yield* both({ outcome: "tls" })).toEqual([])
    expect(states(yield* both({ state: "dead" }))).toEqual(["rejected", "rejected"])
    const unsent = yield* both({ state: "pending" })
    expect(unsent.filter(({ lastOutcome }) => lastOutcome === null)).toHaveLength(3)

    yield* sql`update delivery_attempts set latency_ms = 2001 where delivery_id = ${retried[0]!.id}`
    expect(yield* both({ slowerThan: 2 })).toMatchObject([{ id: retried[0]!.id, lastLatencyMs: 2001 }])
    expect(yield* both({ slowerThan: 0, outcome: "client_error" })).toHaveLength(4)
  })

  test("is that with the highest number, and of two with one number the later one", function* () {
    const sql = yield* SqlClient.SqlClient
    const { list } = yield* DeliveryReader
    const { endpoint, organization } = yield* seedAll
    const [delivery] = yield* list({ endpointId: endpoint.id, status: 503, limit: 1 })
    yield* sql`
      insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
      values (${organization.id}, ${delivery!.id}, 2, now(), 'outcome_unknown'),
        (${organization.id}, ${delivery!.id}, 2, now() + interval '1 second', 'tls')`
    const found = yield* list({ endpointId: endpoint.id, outcome: "tls", limit: 10 })
    expect(found).toMatchObject([{ id: delivery!.id, lastStatus: null, lastLatencyMs: null }])
    expect(yield* list({ endpointId: endpoint.id, outcome: "outcome_unknown", limit: 10 })).toEqual([])
  })

  test("orders the newest deliveries by its latency, those without one last", function* () {
    const sql = yield* SqlClient.SqlClient
    const { list, slowest } = yield* DeliveryReader
    const { endpoint } = yield* seedAll
    const [one, other] = yield* list({ endpointId: endpoint.id, status: 503, limit: 2 })
    yield* sql`update delivery_attempts set latency_ms = 3000 where delivery_id = ${other!.id}`
    yield* sql`update delivery_attempts set latency_ms = null where delivery_id = ${one!.id}`
    const found = yield* slowest({ endpointId: endpoint.id, limit: 20 })
    expect(found).toHaveLength(9)
    expect([found[0]!.id, found.at(-1)!.id]).toEqual([other!.id, one!.id])
    expect(found[1]).toMatchObject({ lastLatencyMs: 12 })
    expect(yield* slowest({ endpointId: endpoint.id, state: "pending", limit: 1 })).toEqual([found[0]])
  })
})
