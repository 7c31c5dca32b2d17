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
import { OwnedIds } from "../../src/operators/OwnedIds.ts"

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
  const own = yield* Effect.provide(OwnedIds, OwnedIds.layer)
  const { organization, endpoint } = yield* seedDeadLetters(1)
  const other = yield* seedDeadLetters(1)
  const [group] = yield* (yield* FailureGroupReader).list({ endpointId: endpoint.id }, 1)
  expect(yield* own.areOwned(organization.id, [group!.id])).toBe(true)
  expect(yield* own.areOwned(other.organization.id, [group!.id])).toBe(false)
})
