import { describe, expect, it } from "@effect/vitest"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLedger } from "@outreach/domain/deliveries/DeliveryLedger"
import { DeliveryQueue, type Settlement } from "@outreach/domain/deliveries/DeliveryQueue"
import { EndpointBook } from "@outreach/domain/deliveries/EndpointBook"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { DeliveryId } from "@outreach/domain/Identifier"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"
import { whileOpen } from "./whileOpen.ts"

const run = runOnDatabase()

// A claim takes what is due anywhere, so each test begins with no endpoint but its own.
beforeEach(() => run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`update webhook_endpoints set enabled = false`)))

/** Seeds an endpoint with deliveries that are due. */
const seedDeliveries = Effect.fnUntraced(function* (count: number) {
  const seeded = yield* seedCampaign({ recipients: 0 })
  return { ...seeded, eventIds: yield* publishSent(seeded.campaign, count) }
})
const claim = (limit: number, perEndpoint: number) =>
  Effect.flatMap(DeliveryQueue, (queue) => queue.claim({ limit, perEndpoint, leaseSeconds: 60 }))
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
        expect(leases[0]!.secrets.map(Redacted.value)).toEqual([Redacted.value(secret)])
        expect(yield* claim(10, 10)).toEqual([])
      }),
    ))

  it("signs with every active secret while a rotated one is in its grace window", () =>
    run(
      Effect.gen(function* () {
        const { organization, secret } = yield* seedDeliveries(1)
        const next = yield* rotateSecret(organization.id, 3600)
        const [lease] = yield* claim(1, 1)
        expect(new Set(lease!.secrets.map(Redacted.value))).toEqual(new Set([secret, next].map(Redacted.value)))
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
        const [first, second] = yield* whileOpen(claim(10, 2), (leases) =>
          Effect.map(claim(10, 2), (others) => [leases, others]),
        )
        expect([first, second].flat()).toHaveLength(2)
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

  it("lets no endpoint's backlog keep another's deliveries waiting", () =>
    run(
      Effect.gen(function* () {
        const slow = yield* seedDeliveries(20)
        const other = yield* seedDeliveries(1)
        const leases = yield* claim(5, 4)
        expect(leases.map(({ endpointId }) => endpointId)).toEqual([
          ...Array.from({ length: 4 }, () => slow.endpoint.id),
          other.endpoint.id,
        ])
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

  it("gives what a dead worker held to another, as the same attempt", () =>
    run(
      Effect.gen(function* () {
        yield* seedDeliveries(1)
        const [dead] = yield* claim(1, 1)
        yield* endLeases
        const [lease] = yield* claim(1, 1)
        expect(lease).toMatchObject({ id: dead!.id, attempt: 1 })
        expect(lease!.leaseToken).not.toBe(dead!.leaseToken)
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
        const [lease] = yield* claim(1, 1)
        for (const state of ["delivered", "rejected"] as const) {
          expect(yield* settle(dead!, { state })).toBe(false)
        }
        expect(yield* settle(dead!, { state: "retry", delaySeconds: 0 })).toBe(false)
        expect(yield* find(dead!.id)).toMatchObject({ delivery: { state: "pending", attempts: 0 }, attempts: [] })

        expect(yield* settle(lease!, { state: "delivered" })).toBe(true)
        expect(yield* settle(lease!, { state: "delivered" })).toBe(false)
        expect((yield* find(lease!.id)).attempts).toHaveLength(1)
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
