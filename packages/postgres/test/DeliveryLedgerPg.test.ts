import { describe, expect, it } from "@effect/vitest"
import { DeliveryLedger } from "@outreach/domain/deliveries/DeliveryLedger"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { makeIdentifier } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

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
        expect(yield* ledger.replay({ deliveryId: dead.id })).toBe(1)

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

  it("replays what every condition of the filter names, and nothing else", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const { endpoint } = yield* seedDeadLetters(3)
        const other = yield* seedDeadLetters(1)
        const endpointId = endpoint.id
        const [last, third, second, first] = yield* ledger.deadLetters({ endpointId }, 10)
        const left = Effect.map(ledger.deadLetters({ endpointId }, 10), (rows) => rows.map(({ id }) => id))

        expect(yield* ledger.replay({ endpointId, eventType: "outreach.email_bounced" })).toBe(0)
        expect(yield* ledger.replay({ endpointId, reason: "exhausted" })).toBe(1)
        expect(yield* left).toEqual([third!.id, second!.id, first!.id])
        // From is inclusive, to exclusive.
        expect(yield* ledger.replay({ endpointId, from: second!.finishedAt!, to: third!.finishedAt! })).toBe(1)
        expect(yield* left).toEqual([third!.id, first!.id])
        expect(yield* ledger.replay({ endpointId, eventType: "outreach.email_sent" })).toBe(2)
        expect(yield* left).toEqual([])
        expect(last!.state).toBe("exhausted")
        expect(yield* ledger.deadLetters({ endpointId: other.endpoint.id }, 10)).toHaveLength(2)
        yield* claimAll
      }),
    ))

  it("replays a dead letter once, though two operators ask at the same time", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const { endpoint } = yield* seedDeadLetters(4)
        const replays = yield* Effect.all(
          Array.from({ length: 4 }, () => ledger.replay({ endpointId: endpoint.id })),
          { concurrency: 4 },
        )
        expect(replays.reduce((sum, count) => sum + count)).toBe(5)
        expect(yield* claimAll).toHaveLength(5)
      }),
    ))

  it("counts a replayed delivery that dies again as a dead letter of its own", () =>
    run(
      Effect.gen(function* () {
        const ledger = yield* DeliveryLedger
        const queue = yield* DeliveryQueue
        const { endpoint } = yield* seedDeadLetters(0)
        yield* ledger.replay({ endpointId: endpoint.id })
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
})
