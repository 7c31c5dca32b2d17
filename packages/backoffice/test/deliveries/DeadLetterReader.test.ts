import { describe, expect } from "@effect/vitest"
import {
  type DeadLetterCursor,
  type DeadLetterFilter,
  DeliveryRepository,
} from "@outreach/domain/deliveries/DeadLetters"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { createIdentifier, type EndpointId } from "@outreach/domain/Identifier"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters as seedAside } from "@outreach/testing/seedDeadLetters"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { DeadLetterReader } from "../../src/deliveries/DeadLetterReader.ts"
import { DeliveryReader } from "../../src/deliveries/DeliveryReader.ts"

const { test } = testsOnDatabase()

/** Seeds an endpoint with dead letters: some `rejected`, and then one `exhausted`. */
const seedDeadLetters = Effect.fnUntraced(function* (rejected: number) {
  const { take, settle } = yield* workerOn()
  const seeded = yield* seedCampaign({ recipients: 1 })
  yield* publishSent(seeded.campaign, rejected + 1)
  for (const [i, delivery] of (yield* takeFor(seeded.endpoint.id, take())).entries()) {
    yield* settle([delivery], { settlement: i < rejected ? "rejected" : "exhausted" }, 410)
  }
  return seeded
})
const takeFor = <E, R>(endpointId: EndpointId, taking: Effect.Effect<ReadonlyArray<Delivery>, E, R>) =>
  Effect.map(taking, (deliveries) => deliveries.filter((delivery) => delivery.endpointId === endpointId))

describe("Dead letters", () => {
  test("replays a dead letter from attempt 1, keeps the history of the old one, and lists it again if it fails again", function* () {
    const deadLetters = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const { endpoint } = yield* seedDeadLetters(1)
    const dead = (yield* deadLetters.list({ endpointId: endpoint.id }, 10)).at(-1)!
    expect(yield* deadLetters.replay(dead.id)).toBe(true)

    const { take, settle } = yield* workerOn()
    const leases = yield* takeFor(endpoint.id, take())
    expect(leases).toHaveLength(1)
    expect(leases[0]).toMatchObject({ eventId: dead.eventId, endpointId: endpoint.id, attempt: 1 })
    expect(leases[0]!.id).not.toBe(dead.id)
    expect(yield* (yield* DeliveryReader).find(dead.id)).toMatchObject({
      delivery: { state: "rejected", attempts: 1, replayedAs: leases[0]!.id },
      attempts: [{ number: 1, status: 410, response: "gone" }],
    })
    expect(yield* (yield* DeliveryReader).find(leases[0]!.id)).toMatchObject({
      delivery: { attempts: 0 },
      attempts: [],
    })
    yield* settle([leases[0]!], { settlement: "rejected" }, 400)
    const [again, ...others] = yield* deadLetters.list({ endpointId: endpoint.id }, 10)
    expect([again!.id, others.map(({ id }) => id)]).toEqual([leases[0]!.id, [expect.not.stringMatching(dead.id)]])
  })

  test("replays a dead letter once for concurrent operators, and rejects unknown ids", function* () {
    const deadLetters = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const { endpoint } = yield* seedDeadLetters(0)
    const [dead] = yield* deadLetters.list({ endpointId: endpoint.id }, 1)
    const replays = yield* Effect.replicateEffect(deadLetters.replay(dead!.id), 4, { concurrency: 4 })
    expect(replays.filter(Boolean)).toEqual([true])
    const [lease] = yield* takeFor(endpoint.id, (yield* workerOn()).take())
    expect(yield* deadLetters.replay(lease!.id)).toBe(false)
    expect(yield* deadLetters.replay(yield* createIdentifier("delivery"))).toBe(false)
  })

  test("counts dead letters by endpoint and reason, without replayed ones", function* () {
    const deadLetters = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const endpointId = (yield* seedDeadLetters(3)).endpoint.id
    const [exhausted, newest] = yield* deadLetters.list({ endpointId }, 2)
    const count = (filter: DeadLetterFilter) =>
      Effect.map(deadLetters.count({ endpointId, ...filter }), (rows) => rows.map(({ endpointId: _, ...row }) => row))
    expect(yield* count({})).toEqual([
      { reason: "rejected", count: 3 },
      { reason: "exhausted", count: 1 },
    ])
    expect(yield* count({ reason: "exhausted" })).toEqual([{ reason: "exhausted", count: 1 }])
    // `from` is inclusive, `to` exclusive.
    expect(yield* count({ from: newest!.finishedAt!, to: exhausted!.finishedAt! })).toEqual([
      { reason: "rejected", count: 1 },
    ])
    expect(yield* count({ type: "outreach.email_bounced" })).toEqual([])
    const among = (maxLooked: number) =>
      Effect.map(deadLetters.count({ endpointId, type: "outreach.email_sent" }, maxLooked), (rows) =>
        rows.reduce((sum, { count }) => sum + count, 0),
      )
    expect(yield* among(2)).toBe(2)
    yield* deadLetters.replay(exhausted!.id)
    expect(yield* count({})).toEqual([{ reason: "rejected", count: 3 }])
    expect(yield* among(10)).toBe(3)
  })

  test("only purges dead letters of the given age, replayed or not, chunk by chunk", function* () {
    const deadLetters = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const old = yield* seedAside(2010, { daysAgo: 91, reason: "rejected" })
    const recent = yield* seedAside(10, { daysAgo: 89, reason: "rejected" })
    const other = yield* seedAside(10, { daysAgo: 91, reason: "poison" })
    const [newest] = yield* deadLetters.list({ endpointId: old.endpoint.id }, 1)
    yield* deadLetters.replay(newest!.id)

    const filter = { reason: "rejected", type: "outreach.email_sent" } as const
    const { before, ...found } = yield* deadLetters.countOld(filter, 90 * 86_400)
    expect(found).toEqual({ count: 2010, replayed: 1 })
    expect(yield* deadLetters.countOld({ ...filter, endpointId: recent.endpoint.id }, 90 * 86_400)).toMatchObject({
      count: 0,
    })
    const chunks: Array<number> = []
    for (let after: DeadLetterCursor | null = null, isFirst = true; isFirst || after !== null; isFirst = false) {
      const { purged, next }: { purged: number; next: DeadLetterCursor | null } = yield* deadLetters.purge(
        filter,
        before,
        after,
      )
      chunks.push(purged)
      after = next
    }
    expect(chunks.reduce((sum, purged) => sum + purged)).toBe(2010)
    expect(Math.max(...chunks)).toBeLessThanOrEqual(2000)
    const left = (endpointId: EndpointId) => Effect.map(deadLetters.list({ endpointId }, 100), ({ length }) => length)
    expect([yield* left(old.endpoint.id), yield* left(recent.endpoint.id), yield* left(other.endpoint.id)]).toEqual([
      0, 10, 10,
    ])
    expect(yield* Effect.flip((yield* DeliveryReader).find(newest!.id))).toMatchObject({ _tag: "DeliveryNotFound" })
  })
})
