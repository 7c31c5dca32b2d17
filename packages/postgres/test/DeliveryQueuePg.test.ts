import { describe, expect, it } from "@effect/vitest"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLedger } from "@outreach/domain/deliveries/DeliveryLedger"
import { DeliveryQueue, MOST_LOST_LEASES, type Settlement } from "@outreach/domain/deliveries/DeliveryQueue"
import { EndpointBook } from "@outreach/domain/deliveries/EndpointBook"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { type DeliveryId, makeIdentifier } from "@outreach/domain/Identifier"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

const run = runOnDatabase()

// A claim takes what is due anywhere, and counts what is in flight anywhere, so each test begins with neither.
beforeEach(() =>
  run(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(
        sql`truncate deliveries, delivery_attempts, endpoint_breakers`,
        sql`update webhook_endpoints set enabled = false`,
      ),
    ),
  ),
)

/** Seeds an endpoint with deliveries that are due. */
const seedDeliveries = Effect.fnUntraced(function* (count: number) {
  const seeded = yield* seedCampaign({ recipients: 0 })
  return { ...seeded, eventIds: yield* publishSent(seeded.campaign, count) }
})
const claim = (limit: number, perEndpoint: number, inAll = 1000) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.claim({ limit, perEndpoint, inAll, leaseSeconds: 60 }))
const recoverLost = Effect.flatMap(DeliveryQueue, (queue) => queue.recoverLost)
const settle = (lease: DeliveryLease, settlement: Settlement, status = 200) =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    queue.settle(
      lease,
      {
        number: lease.attempt,
        startedAt: "2026-11-21T00:00:00.000001Z",
        latencyMs: 12,
        status,
        outcome: "success",
        response: "ok",
      },
      settlement,
    ),
  )
/** Lets the leases end, as the passing of their time would. */
const endLeases = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`update deliveries set lease_until = clock_timestamp() - interval '1 second' where lease_until is not null`,
)
const find = (id: DeliveryId) => Effect.flatMap(DeliveryLedger, (ledger) => ledger.find(id))

describe("DeliveryQueuePg.claim", () => {
  it("leases what is due, oldest first, with all that an attempt needs", () =>
    run(
      Effect.gen(function* () {
        const { organization, endpoint, secret, eventIds } = yield* seedDeliveries(3)
        const leases = yield* claim(10, 10)
        expect(leases.map(({ eventId }) => eventId)).toEqual(eventIds)
        expect(leases[0]).toMatchObject({
          organizationId: organization.id,
          endpointId: endpoint.id,
          url: endpoint.url,
          attempt: 1,
        })
        expect(JSON.parse(leases[0]!.body)).toMatchObject({ event_id: eventIds[0], event_type: "outreach.email_sent" })
        expect(leases[0]!.secrets.map(({ secret }) => Redacted.value(secret))).toEqual([Redacted.value(secret)])
        expect(yield* claim(10, 10)).toEqual([])
      }),
    ))

  it("signs with every active secret while a rotated one is in its grace window", () =>
    run(
      Effect.gen(function* () {
        const { organization, secret } = yield* seedDeliveries(1)
        const next = yield* rotateSecret(organization.id, 3600)
        const [lease] = yield* claim(1, 1)
        expect(new Set(lease!.secrets.map(({ secret }) => Redacted.value(secret)))).toEqual(
          new Set([secret, next].map(Redacted.value)),
        )
      }),
    ))

  it("keeps at most so many in flight to one endpoint, over one claim after another", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(5)
        const first = yield* claim(10, 2)
        expect(first).toHaveLength(2)
        expect(yield* claim(10, 2)).toEqual([])
        yield* settle(first[0]!, { state: "delivered" })
        expect(yield* claim(10, 2)).toHaveLength(1)
      }),
    ))

  it("keeps at most so many in flight to one endpoint, over claims at the same time", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(10)
        const claims = yield* Effect.all([claim(10, 2), claim(10, 2), claim(10, 2)], { concurrency: "unbounded" })
        expect(claims.flat()).toHaveLength(2)
      }),
    ))

  // Rounds, because the claims that would break it commit between another's first look and its count.
  it("keeps the bound whatever the order in which claims of many workers commit", () =>
    run(
      Effect.forEach(
        Array.from({ length: 20 }),
        Effect.fnUntraced(function* () {
          yield* seedDeliveries(10)
          const claims = yield* Effect.all(
            Array.from({ length: 24 }, () => claim(1, 7)),
            { concurrency: 8 },
          )
          expect(claims.flat().length).toBeLessThanOrEqual(7)
          expect(yield* claim(10, 7)).toHaveLength(7 - claims.flat().length)
          yield* (yield* SqlClient.SqlClient)`update webhook_endpoints set enabled = false`
        }),
      ),
    ))

  it("lets organizations take turns, and the endpoints of each, oldest first", () =>
    run(
      Effect.gen(function* () {
        const large = yield* seedDeliveries(20)
        const second = yield* (yield* EndpointBook).create({
          organizationId: large.organization.id,
          id: yield* makeIdentifier("endpoint"),
          url: "https://second.test/",
          eventTypes: null,
        })
        yield* publishSent(large.campaign, 2)
        const small = yield* seedDeliveries(2)
        const leases = yield* claim(8, 4)
        const names = new Map([
          [large.endpoint.id, "large"],
          [second.id, "large second"],
          [small.endpoint.id, "small"],
        ])
        expect(leases.map(({ endpointId }) => names.get(endpointId))).toEqual([
          ...["large", "small", "large second", "small", "large", "large second", "large", "large"],
        ])
        const own = leases.filter(({ endpointId }) => endpointId === large.endpoint.id)
        expect(own.map(({ eventId }) => eventId)).toEqual(large.eventIds.slice(0, 4))
      }),
    ))

  it("keeps at most so many in flight in all, over claims at the same time", () =>
    run(
      Effect.gen(function* () {
        yield* Effect.forEach([1, 2, 3], () => seedDeliveries(5))
        const claims = yield* Effect.all(
          Array.from({ length: 12 }, () => claim(2, 5, 9)),
          { concurrency: "unbounded" },
        )
        expect(claims.flat()).toHaveLength(9)
        yield* settle(claims.flat()[0]!, { state: "delivered" })
        expect(yield* claim(10, 5, 9)).toHaveLength(1)
      }),
    ))

  it("takes replays after everything else", () =>
    run(
      Effect.gen(function* () {
        const { endpoint, eventIds } = yield* seedDeliveries(3)
        const other = yield* seedDeliveries(1)
        const sql = yield* SqlClient.SqlClient
        yield* sql`
          update deliveries set replay = true, due_at = due_at - interval '1 hour'
          where endpoint_id = ${endpoint.id} and event_id = any (${eventIds.slice(0, 2)}::text[])`
        const leases = yield* claim(10, 10)
        expect(leases.map(({ eventId }) => eventId)).toEqual([eventIds[2], other.eventIds[0], eventIds[0], eventIds[1]])
      }),
    ))

  it("finds what falls due again, is recovered or is replayed, whatever it has claimed before", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(12)
        const sql = yield* SqlClient.SqlClient
        const seen = new Map<string, number>()
        for (let round = 0; round < 40; round++) {
          const leases = yield* claim(3, 3)
          for (const lease of leases) seen.set(lease.eventId, (seen.get(lease.eventId) ?? 0) + 1)
          if (round % 4 === 3) {
            yield* endLeases
            yield* recoverLost
          } else {
            yield* Effect.forEach(leases, (lease) => settle(lease, { state: "retry", delaySeconds: 0 }))
          }
          yield* sql`update deliveries set lost_leases = least(lost_leases, 1)`
          yield* sql`delete from endpoint_breakers`
        }
        // Each is as often at the head of the line as any other, give or take what was recovered ahead of its turn.
        expect(seen.size).toBe(12)
        expect(Math.min(...seen.values())).toBeGreaterThanOrEqual(5)
      }),
    ))

  it("never gives one delivery to two claimers, and loses none, however many claim at once", () =>
    run(
      Effect.gen(function* () {
        const seeded = yield* Effect.forEach([1, 2, 3, 4], () => seedDeliveries(20))
        const taken: Array<string> = []
        while (taken.length < 80) {
          const before = taken.length
          const claims = yield* Effect.all(
            Array.from({ length: 8 }, () => claim(3, 20)),
            { concurrency: 8 },
          )
          taken.push(...claims.flat().map(({ eventId }) => eventId))
          expect(taken.length).toBeGreaterThan(before)
        }
        expect([...taken].sort()).toEqual(seeded.flatMap(({ eventIds }) => eventIds).sort())
      }),
    ))

  it("lets wait what cannot be signed with the key at hand, and holds nothing against it", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const unreadable = yield* seedDeliveries(2)
        yield* sql`
          update signing_secrets set ciphertext = decode(repeat('00', 60), 'hex')
          where organization_id = ${unreadable.organization.id}`
        const readable = yield* seedDeliveries(2)
        const leases = yield* claim(10, 10)
        expect(leases.map(({ eventId }) => eventId)).toEqual(readable.eventIds)
        yield* endLeases
        expect((yield* recoverLost).map(({ deliveryId }) => deliveryId).sort()).toEqual(
          leases.map(({ id }) => id).sort(),
        )
        const waiting = yield* sql`
          select lost_leases, lease_until, due_at between clock_timestamp() + interval '50 s' and clock_timestamp() + interval '60 s' as later
          from deliveries where organization_id = ${unreadable.organization.id}`
        expect(waiting).toEqual(Array(2).fill({ lost_leases: 0, lease_until: null, later: true }))
      }),
    ))

  it("hands out whatever is published while it looks, body and all", () =>
    run(
      Effect.gen(function* () {
        const seeded = yield* Effect.forEach([1, 2, 3, 4], () => seedDeliveries(0))
        const taken = new Set<string>()
        const claims = Effect.gen(function* () {
          for (const lease of yield* claim(50, 500)) taken.add(lease.eventId)
        })
        let open = true
        const publishing = Effect.forEach(seeded, ({ campaign }) => publishSent(campaign, 60), {
          concurrency: "unbounded",
        }).pipe(
          Effect.ensuring(
            Effect.sync(() => {
              open = false
            }),
          ),
        )
        const claiming = Effect.gen(function* () {
          while (open) yield* claims
          yield* claims
        })
        const [published] = yield* Effect.all([publishing, claiming, claiming, claiming], { concurrency: "unbounded" })
        // What was leased but not handed out would be missing here until its lease ends.
        expect([...taken].sort()).toEqual(published.flat().sort())
      }),
    ))

  it("leaves alone what is not due, what is for a disabled endpoint, and what cannot be signed", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const later = yield* seedDeliveries(1)
        yield* sql`
          update deliveries set due_at = clock_timestamp() + interval '1 hour' where endpoint_id = ${later.endpoint.id}`
        const disabled = yield* seedDeliveries(1)
        yield* (yield* EndpointBook).disable(disabled.endpoint.id)
        const unsigned = yield* seedDeliveries(1)
        yield* sql`delete from signing_secrets where organization_id = ${unsigned.organization.id}`
        expect(yield* claim(10, 10)).toEqual([])
        yield* rotateSecret(unsigned.organization.id, 0)
        expect((yield* claim(10, 10)).map(({ eventId }) => eventId)).toEqual(unsigned.eventIds)
      }),
    ))
})

describe("DeliveryQueuePg.recoverLost", () => {
  it("gives what a dead worker held to another, ahead of others, as the same attempt", () =>
    run(
      Effect.gen(function* () {
        const { endpoint } = yield* seedDeliveries(4)
        const dead = yield* claim(2, 2)
        expect(yield* recoverLost).toEqual([])
        yield* endLeases
        const lost = dead.map(({ id }) => ({ deliveryId: id, endpointId: endpoint.id, poison: false }))
        expect(new Set(yield* recoverLost)).toEqual(new Set(lost))
        expect(yield* recoverLost).toEqual([])
        const leases = yield* claim(3, 3)
        expect(leases.map(({ id, attempt }) => [id, attempt])).toEqual([
          [dead[0]!.id, 1],
          [dead[1]!.id, 1],
          [leases[2]!.id, 1],
        ])
        expect(leases[0]!.leaseToken).not.toBe(dead[0]!.leaseToken)
        expect(yield* find(dead[0]!.id)).toMatchObject({
          delivery: { state: "sending", attempts: 0 },
          attempts: [{ number: 1, outcome: "outcome_unknown", latencyMs: null, status: null, response: null }],
        })
        yield* settle(leases[0]!, { state: "delivered" })
        expect(yield* find(dead[0]!.id)).toMatchObject({
          delivery: { state: "delivered", attempts: 1 },
          attempts: [{ outcome: "outcome_unknown" }, { number: 1, outcome: "success" }],
        })
      }),
    ))

  it("sets aside what loses one lease after another", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        const [first] = yield* claim(1, 1)
        for (let lost = 1; lost < MOST_LOST_LEASES; lost++) {
          yield* endLeases
          expect(yield* recoverLost).toMatchObject([{ poison: false }])
          expect(yield* claim(1, 1)).toMatchObject([{ id: first!.id, attempt: 1 }])
        }
        yield* endLeases
        expect(yield* recoverLost).toMatchObject([{ deliveryId: first!.id, poison: true }])
        expect(yield* claim(1, 1)).toEqual([])
        const { delivery, attempts } = yield* find(first!.id)
        expect(delivery).toMatchObject({ state: "poison", attempts: 0 })
        expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual(
          Array.from({ length: MOST_LOST_LEASES }, () => [1, "outcome_unknown"]),
        )
      }),
    ))

  it("counts lost leases in a row alone", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        for (let lost = 1; lost <= 2 * MOST_LOST_LEASES; lost++) {
          const [lease] = yield* claim(1, 1)
          if (lost % 3 === 0) yield* settle(lease!, { state: "retry", delaySeconds: 0 })
          else {
            yield* endLeases
            expect(yield* recoverLost).toMatchObject([{ poison: false }])
          }
        }
      }),
    ))
})

describe("DeliveryQueuePg.settle", () => {
  it("records a delivery and its attempt", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        const [lease] = yield* claim(1, 1)
        expect(yield* settle(lease!, { state: "delivered" })).toBe(true)
        expect(yield* find(lease!.id)).toMatchObject({
          delivery: { state: "delivered", attempts: 1, dueAt: null, finishedAt: expect.any(String) },
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
        yield* endLeases
        expect(yield* claim(1, 1)).toEqual([])
      }),
    ))

  it("puts a retry back for the next attempt, after its delay by the database's clock", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        const [first] = yield* claim(1, 1)
        yield* settle(first!, { state: "retry", delaySeconds: 30 }, 503)
        const { delivery } = yield* find(first!.id)
        const sql = yield* SqlClient.SqlClient
        const [wait] = yield* sql<{ seconds: number }>`
          select extract(epoch from ${delivery.dueAt}::timestamptz - clock_timestamp())::double precision as seconds`
        expect(wait!.seconds).toBeGreaterThan(20)
        expect(wait!.seconds).toBeLessThanOrEqual(30)
        expect(yield* claim(1, 1)).toEqual([])

        yield* sql`update deliveries set due_at = clock_timestamp() where id = ${first!.id}`
        const [second] = yield* claim(1, 1)
        expect(second).toMatchObject({ id: first!.id, attempt: 2 })
        yield* settle(second!, { state: "exhausted" }, 503)
        expect(yield* find(first!.id)).toMatchObject({
          delivery: { state: "exhausted", attempts: 2 },
          attempts: [{ number: 1 }, { number: 2 }],
        })
      }),
    ))

  it("writes nothing for a worker whose lease another has taken, and everything for that other", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        const [dead] = yield* claim(1, 1)
        yield* endLeases
        yield* recoverLost
        const [lease] = yield* claim(1, 1)
        for (const state of ["delivered", "rejected"] as const) {
          expect(yield* settle(dead!, { state })).toBe(false)
        }
        expect(yield* settle(dead!, { state: "retry", delaySeconds: 0 })).toBe(false)
        expect(yield* find(dead!.id)).toMatchObject({
          delivery: { state: "sending", attempts: 0 },
          attempts: [{ outcome: "outcome_unknown" }],
        })

        expect(yield* settle(lease!, { state: "delivered" })).toBe(true)
        expect(yield* settle(lease!, { state: "delivered" })).toBe(false)
        expect((yield* find(lease!.id)).attempts.map(({ outcome }) => outcome)).toEqual(["outcome_unknown", "success"])
      }),
    ))

  it("still takes the word of a late worker whose lease nobody took", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        const [late] = yield* claim(1, 1)
        yield* endLeases
        expect(yield* settle(late!, { state: "delivered" })).toBe(true)
      }),
    ))
})

describe("an endpoint that fails", () => {
  const FAIL = { state: "retry", delaySeconds: 0 } as const
  /** Lets the wait for the next probe pass. */
  const passWait = Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update endpoint_breakers set probe_at = clock_timestamp() where probe_at > clock_timestamp()`,
  )
  const waitSeconds = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ wait: number }>`
      select extract(epoch from probe_at - clock_timestamp())::double precision as wait from endpoint_breakers`
    return rows.map(({ wait }) => wait)
  })

  it("is probed with one call at a time from the fifth failure in a row on, at waits of 1 s, doubled up to 10 s", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(30)
        for (const lease of yield* claim(4, 16)) yield* settle(lease, FAIL, 503)
        const [fifth, sixth] = yield* claim(20, 16)
        yield* settle(fifth!, FAIL, 503)
        expect(yield* claim(20, 16)).toEqual([])
        // What was in flight when it began to fail may still come back; it is no probe, and makes no wait longer.
        yield* settle(sixth!, FAIL, 503)
        yield* endLeases
        yield* recoverLost
        for (const longest of [1, 2, 4, 8, 10, 10]) {
          const [wait] = yield* waitSeconds
          expect(wait).toBeGreaterThan(longest - 1)
          expect(wait).toBeLessThanOrEqual(longest)
          expect(yield* claim(20, 16)).toEqual([])
          yield* passWait
          const probe = yield* claim(20, 16)
          expect(probe).toHaveLength(1)
          expect(yield* claim(20, 16)).toEqual([])
          yield* settle(probe[0]!, FAIL, 503)
        }
      }),
    ))

  it("waits a second at first, also when all that was in flight failed together", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(30)
        yield* Effect.forEach(yield* claim(16, 16), (lease) => settle(lease, FAIL, 503), { concurrency: "unbounded" })
        const [wait] = yield* waitSeconds
        expect(wait).toBeGreaterThan(0)
        expect(wait).toBeLessThanOrEqual(1)
      }),
    ))

  it("opens step by step once it answers, also with a refusal, and is as any other after that", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(60)
        for (const lease of yield* claim(5, 16)) yield* settle(lease, FAIL, 503)
        yield* passWait
        for (const allowance of [1, 2, 4, 8]) {
          const leases = yield* claim(20, 16)
          expect(leases).toHaveLength(allowance)
          yield* settle(leases[0]!, { state: allowance === 2 ? "rejected" : "delivered" })
          yield* endLeases
          yield* recoverLost
        }
        expect(yield* claim(20, 16)).toHaveLength(16)
        expect(yield* waitSeconds).toEqual([])
      }),
    ))

  it("falls back to probes when it fails again while it opens", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(30)
        for (const lease of yield* claim(5, 16)) yield* settle(lease, FAIL, 503)
        yield* passWait
        yield* settle((yield* claim(20, 16))[0]!, { state: "delivered" })
        const [one, other] = yield* claim(20, 16)
        yield* settle(one!, FAIL, 503)
        yield* settle(other!, FAIL, 503)
        yield* passWait
        expect(yield* claim(20, 16)).toHaveLength(1)
      }),
    ))

  it("keeps no other endpoint waiting, and loses no attempt to the wait", () =>
    run(
      Effect.gen(function* () {
        const failing = yield* seedDeliveries(10)
        for (const lease of yield* claim(5, 16)) yield* settle(lease, FAIL, 503)
        const healthy = yield* seedDeliveries(3)
        expect((yield* claim(20, 16)).map(({ endpointId }) => endpointId)).toEqual(
          Array.from({ length: 3 }, () => healthy.endpoint.id),
        )
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql`
          select attempts, count(*)::int from deliveries where endpoint_id = ${failing.endpoint.id} group by attempts order by 1`
        expect(rows).toEqual([
          { attempts: 0, count: 5 },
          { attempts: 1, count: 5 },
        ])
      }),
    ))
})
