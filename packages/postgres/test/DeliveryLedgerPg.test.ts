import { describe, expect, it } from "@effect/vitest"
import {
  type DeadLetterFilter,
  type DeliveryFilter,
  DeliveryLedger,
  type PurgePosition,
} from "@outreach/domain/deliveries/DeliveryLedger"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { type EndpointId, makeIdentifier } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"
import { seedDeadLetters as seedAside } from "./seedDeadLetters.ts"

const run = runOnDatabase()

/** Seeds an endpoint with dead letters: `rejected` and then one `exhausted`. */
const seedDeadLetters = Effect.fnUntraced(function* (rejected: number) {
  const queue = yield* DeliveryQueue
  const seeded = yield* seedCampaign({ recipients: 1 })
  yield* publishSent(seeded.campaign, rejected + 1)
  for (let i = 0; i <= rejected; i++) {
    const [lease] = yield* queue.claim({ limit: 1, perEndpoint: 1, inAll: 1000, leaseSeconds: 60 })
    const attempt = {
      number: 1,
      startedAt: "2026-11-21T00:00:00.000000Z",
      latencyMs: 1,
      status: 410,
      outcome: "rejected",
      response: "gone",
    } as const
    yield* queue.settle(lease!, attempt, { state: i < rejected ? "rejected" : "exhausted" })
  }
  return seeded
})
const claimAll = Effect.flatMap(DeliveryQueue, (queue) =>
  queue.claim({ limit: 100, perEndpoint: 100, inAll: 1000, leaseSeconds: 60 }),
)

describe("DeliveryLedgerPg", () => {
  it("lists deliveries newest first, by state and by endpoint", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const { endpoint, campaign } = yield* seedDeadLetters(2)
        yield* publishSent(campaign, 1)
        const list = (filter: { state?: "pending" | "rejected" | "exhausted" | "delivered"; limit?: number }) =>
          ledger.list({ endpointId: endpoint.id, limit: 100, ...filter })
        const all = yield* list({})
        expect(all.map(({ state }) => state)).toEqual(["pending", "exhausted", "rejected", "rejected"])
        expect(yield* list({ state: "rejected" })).toEqual(all.slice(2))
        expect(yield* list({ state: "delivered" })).toEqual([])
        expect(yield* list({ limit: 2 })).toEqual(all.slice(0, 2))
        yield* claimAll
      }),
    ))

  it("lists deliveries by event, type and campaign, however many others are newer", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const sql = yield* SqlClient.SqlClient
        const { organization, endpoint, campaign, eventId } = yield* seedAside(2)
        const list = (filter: DeliveryFilter) =>
          Effect.map(ledger.list({ ...filter, limit: 3 }), (rows) => rows.map(({ id }) => id))
        const mine = (yield* ledger.list({ endpointId: endpoint.id, limit: 10 })).map(({ id }) => id)
        expect(mine).toHaveLength(2)
        const other = yield* seedAside(1)
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
        expect(yield* ledger.replay(mine[0]!)).toBe(true)
        expect(yield* list({ campaignId: campaign.id, state: "pending" })).toHaveLength(1)
        yield* sql`delete from delivered where organization_id = ${other.organization.id}`
        yield* sql`delete from deliveries where organization_id = ${organization.id}`
      }),
    ))

  it("knows nothing of an id that is no delivery's", () =>
    run(
      Effect.gen(function* () {
        const deliveryId = yield* makeIdentifier("delivery")
        const refusal = yield* Effect.flip(Effect.flatMap(DeliveryLedger, (ledger) => ledger.find(deliveryId)))
        expect(refusal).toMatchObject({ _tag: "DeliveryNotFound", deliveryId })
      }),
    ))

  it("replays a dead letter from attempt 1 with the same bytes, and keeps the old one's history", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const { endpoint } = yield* seedDeadLetters(1)
        const dead = (yield* ledger.deadLetters({ endpointId: endpoint.id }, 10)).at(-1)!
        expect(yield* ledger.replay(dead.id)).toBe(true)

        const leases = yield* claimAll
        expect(leases).toHaveLength(1)
        expect(leases[0]).toMatchObject({ eventId: dead.eventId, endpointId: endpoint.id, attempt: 1 })
        expect(leases[0]!.id).not.toBe(dead.id)
        expect(yield* ledger.find(dead.id)).toMatchObject({
          delivery: { state: "rejected", attempts: 1, replayedAs: leases[0]!.id },
          attempts: [{ number: 1, status: 410, response: "gone" }],
        })
        expect(yield* ledger.find(leases[0]!.id)).toMatchObject({ delivery: { attempts: 0 }, attempts: [] })
      }),
    ))

  it("replays a dead letter once, though operators ask at the same time, and nothing that is none", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const { endpoint } = yield* seedDeadLetters(0)
        const [dead] = yield* ledger.deadLetters({ endpointId: endpoint.id }, 1)
        const replays = yield* Effect.all(
          Array.from({ length: 4 }, () => ledger.replay(dead!.id)),
          { concurrency: 4 },
        )
        expect(replays.filter(Boolean)).toEqual([true])
        const [lease] = yield* claimAll
        expect(yield* ledger.replay(lease!.id)).toBe(false)
        expect(yield* ledger.replay(yield* makeIdentifier("delivery"))).toBe(false)
      }),
    ))

  it("counts dead letters by endpoint and reason, but for those that were replayed", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const endpointId = (yield* seedDeadLetters(3)).endpoint.id
        const [exhausted, newest] = yield* ledger.deadLetters({ endpointId }, 2)
        const count = (filter: DeadLetterFilter) =>
          Effect.map(ledger.countDeadLetters({ endpointId, ...filter }), (rows) =>
            rows.map(({ endpointId: _, ...row }) => row),
          )
        expect(yield* count({})).toEqual([
          { reason: "rejected", count: 3 },
          { reason: "exhausted", count: 1 },
        ])
        expect(yield* count({ reason: "exhausted" })).toEqual([{ reason: "exhausted", count: 1 }])
        // From is inclusive, to exclusive.
        expect(yield* count({ from: newest!.finishedAt!, to: exhausted!.finishedAt! })).toEqual([
          { reason: "rejected", count: 1 },
        ])
        expect(yield* count({ eventType: "outreach.email_bounced" })).toEqual([])
        yield* ledger.replay(exhausted!.id)
        expect(yield* count({})).toEqual([{ reason: "rejected", count: 3 }])
        yield* claimAll
      }),
    ))

  it("counts a replayed delivery that dies again as a dead letter of its own", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const queue = yield* DeliveryQueue
        const { endpoint } = yield* seedDeadLetters(0)
        const [dead] = yield* ledger.deadLetters({ endpointId: endpoint.id }, 1)
        yield* ledger.replay(dead!.id)
        const [lease] = yield* claimAll
        const attempt = {
          number: 1,
          startedAt: "2026-11-21T00:00:00.000000Z",
          latencyMs: 1,
          outcome: "rejected",
        } as const
        yield* queue.settle(lease!, { ...attempt, status: 400, response: null }, { state: "rejected" })
        expect((yield* ledger.deadLetters({ endpointId: endpoint.id }, 10)).map(({ id }) => id)).toEqual([lease!.id])
      }),
    ))

  it("purges what was set aside long enough ago, replayed or not, chunk by chunk, and nothing else", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const old = yield* seedAside(4500, { daysAgo: 91, reason: "rejected" })
        const recent = yield* seedAside(10, { daysAgo: 89, reason: "rejected" })
        const other = yield* seedAside(10, { daysAgo: 91, reason: "poison" })
        const [newest] = yield* ledger.deadLetters({ endpointId: old.endpoint.id }, 1)
        yield* ledger.replay(newest!.id)

        const filter = { reason: "rejected", eventType: "outreach.email_sent" } as const
        const { before, ...found } = yield* ledger.countOld(filter, 90 * 86_400)
        expect(found).toEqual({ count: 4500, replayed: 1 })
        expect(yield* ledger.countOld({ ...filter, endpointId: recent.endpoint.id }, 90 * 86_400)).toMatchObject({
          count: 0,
        })
        const chunks: Array<number> = []
        for (let after: PurgePosition | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
          const { purged, next }: { purged: number; next: PurgePosition | null } = yield* ledger.purge(
            filter,
            before,
            after,
          )
          chunks.push(purged)
          after = next
        }
        expect(chunks.reduce((sum, purged) => sum + purged)).toBe(4500)
        expect(Math.max(...chunks)).toBeLessThanOrEqual(2000)
        const left = (endpointId: EndpointId) =>
          Effect.map(ledger.deadLetters({ endpointId }, 100), ({ length }) => length)
        expect([yield* left(old.endpoint.id), yield* left(recent.endpoint.id), yield* left(other.endpoint.id)]).toEqual(
          [0, 10, 10],
        )
        expect(yield* Effect.flip(ledger.find(newest!.id))).toMatchObject({ _tag: "DeliveryNotFound" })
      }),
    ))
})
