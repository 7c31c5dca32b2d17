import { PgClient } from "@effect/sql-pg"
import { describe, expect, it } from "@effect/vitest"
import { OrganizationRegistry } from "@outreach/domain/callers/OrganizationRegistry"
import type { DeliveryLease } from "@outreach/domain/deliveries/Delivery"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { EndpointBook } from "@outreach/domain/deliveries/EndpointBook"
import { makeIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

const run = runOnDatabase()

const create = Effect.fnUntraced(function* (organizationId: OrganizationId, eventTypes: ReadonlyArray<string> | null) {
  const id = yield* makeIdentifier("endpoint")
  return yield* (yield* EndpointBook).create({ organizationId, id, url: "https://partner.test/webhooks", eventTypes })
})

describe("EndpointBookPg", () => {
  it("keeps an endpoint enabled until it is disabled", () =>
    run(
      Effect.gen(function* () {
        const book = yield* EndpointBook
        const { id } = yield* (yield* OrganizationRegistry).create(yield* makeIdentifier("organization"), "Acme")
        const endpoint = yield* create(id, ["outreach.email_sent"])
        expect(endpoint).toMatchObject({ enabled: true, eventTypes: ["outreach.email_sent"] })
        const atRest = { breaker: "closed", failures: 0, nextProbeAt: null, waiting: 0, inFlight: 0, oldestDueAt: null }
        expect(yield* book.list(id)).toEqual([{ ...endpoint, ...atRest }])
        expect(yield* book.disable(endpoint.id)).toEqual({ ...endpoint, enabled: false })
        expect(yield* book.list(id)).toEqual([{ ...endpoint, ...atRest, enabled: false }])
        expect(yield* book.enable(endpoint.id)).toEqual(endpoint)
        expect(yield* book.find(endpoint.id)).toEqual({ ...endpoint, ...atRest })
      }),
    ))

  it("refuses ids that are nobody's", () =>
    run(
      Effect.gen(function* () {
        const endpointId = yield* makeIdentifier("endpoint")
        const { find, enable, disable } = yield* EndpointBook
        for (const ask of [find, enable, disable]) {
          expect(yield* Effect.flip<unknown, unknown, never>(ask(endpointId))).toMatchObject({
            _tag: "EndpointNotFound",
            endpointId,
          })
        }
        expect(yield* Effect.flip(create(yield* makeIdentifier("organization"), null))).toMatchObject({
          _tag: "OrganizationNotFound",
        })
      }),
    ))

  it("says how many of an endpoint's deliveries wait, since when, and how many are in flight", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
        yield* publishSent(campaign, 5)
        yield* sql`
          update deliveries set due_at = clock_timestamp() + interval '1 hour'
          where id = (select max(id) from deliveries where endpoint_id = ${endpoint.id})`
        const [oldest] = yield* sql<{ id: string; due: string }>`
          select id, due_at as due from deliveries where endpoint_id = ${endpoint.id} order by due_at limit 1`
        const { find } = yield* EndpointBook
        expect(yield* find(endpoint.id)).toMatchObject({ waiting: 5, inFlight: 0, oldestDueAt: oldest!.due })
        yield* (yield* DeliveryQueue).claim({ limit: 4, perEndpoint: 4, inAll: 1000, leaseSeconds: 60 })
        expect(yield* find(endpoint.id)).toMatchObject({ waiting: 1, inFlight: 4, oldestDueAt: null })
      }),
    ))

  it("shows the breaker open, probing and recovering, and forgets it when the endpoint is enabled, which wakes the workers", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const pg = yield* PgClient.PgClient
        const queue = yield* DeliveryQueue
        const { find, enable } = yield* EndpointBook
        const { endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
        yield* publishSent(campaign, 8)
        const attempt = { number: 1, startedAt: "2026-11-21T00:00:00.000000Z", latencyMs: 1, response: null } as const
        const claim = (limit: number) => queue.claim({ limit, perEndpoint: limit, inAll: 1000, leaseSeconds: 60 })
        const fail = (lease: DeliveryLease) =>
          queue.settle(lease, { ...attempt, status: 503, outcome: "server_error" }, { state: "retry", delaySeconds: 0 })
        const succeed = (lease: DeliveryLease) =>
          queue.settle(lease, { ...attempt, status: 200, outcome: "success" }, { state: "delivered" })
        const skipWait = sql`update endpoint_breakers set probe_at = clock_timestamp() where endpoint_id = ${endpoint.id}`

        for (const lease of yield* claim(4)) yield* fail(lease)
        expect(yield* find(endpoint.id)).toMatchObject({ breaker: "closed", failures: 4, nextProbeAt: null })
        for (const lease of yield* claim(2)) yield* fail(lease)
        expect(yield* find(endpoint.id)).toMatchObject({
          breaker: "open",
          failures: 5,
          nextProbeAt: expect.any(String),
        })
        yield* skipWait
        expect(yield* find(endpoint.id)).toMatchObject({ breaker: "probing", failures: 5, nextProbeAt: null })
        const [probe] = yield* claim(1)
        yield* succeed(probe!)
        expect(yield* find(endpoint.id)).toMatchObject({ breaker: "recovering", failures: 0, nextProbeAt: null })

        const hints = yield* pg.listen("deliveries")
        yield* enable(endpoint.id)
        yield* Queue.take(hints)
        expect(yield* find(endpoint.id)).toMatchObject({ breaker: "closed", failures: 0 })
      }).pipe(Effect.scoped),
    ))

  it("gives an endpoint the events that it subscribes to, and lets a disabled one's wait", () =>
    run(
      Effect.gen(function* () {
        const { organization, endpoint: all, campaign } = yield* seedCampaign({ recipients: 0 })
        const sent = yield* create(organization.id, ["outreach.email_sent", "outreach.email_bounced"])
        const bounced = yield* create(organization.id, ["outreach.email_bounced"])
        yield* (yield* EndpointBook).disable(sent.id)
        const [eventId] = yield* publishSent(campaign, 1)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ endpoint_id: string }>`
          select endpoint_id from deliveries where event_id = ${eventId!} order by endpoint_id`
        expect(rows.map((row) => row.endpoint_id)).toEqual([all.id, sent.id])
        expect(rows.map((row) => row.endpoint_id)).not.toContain(bounced.id)
      }),
    ))
})
