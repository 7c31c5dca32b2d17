import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, expect } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecret, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import type { Timestamp } from "@outreach/domain/Timestamp"
import type { Transaction } from "@outreach/domain/Transaction"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { column, sql, untilBlocked, value, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Fiber, Queue, Redacted } from "effect"
import type * as SecureRandom from "effect/crypto/SecureRandom"

const { test } = testsOnDatabase()

const create = Effect.fnUntraced(function* (organizationId: OrganizationId, eventTypes: ReadonlyArray<string> | null) {
  const id = yield* createIdentifier("endpoint")
  return yield* (yield* EndpointRepository).create({
    organizationId,
    id,
    url: EndpointUrl.make("https://partner.test/webhooks"),
    eventTypes,
  })
})

/** Full addresses, and their redacted form. */
const ADDRESSES = [
  ["https://partner.test/webhooks", "https://partner.test/webhooks"],
  [
    "https://a-host-of-more-than-twenty-letters.partner.test",
    "https://a-host-of-more-than-twenty-letters.partner.test",
  ],
  ["https://partner.test/hooks?key=topsecret&a=?b", "https://partner.test/hooks?…"],
  ["https://partner.test?key=topsecret", "https://partner.test?…"],
  ["https://hooks.test/services/T0/8fKq0dJx2LmWv7TzRb5N", "https://hooks.test/services/T0/…"],
  ["https://hooks.test/8fKq0dJx2LmWv7TzRb5N/8fKq0dJx2LmWv7TzRb5N/end/", "https://hooks.test/…/…/end/"],
] as const

describe("EndpointRepositoryPg", () => {
  test("redacts secrets in the address, returns the full one on request, and keeps other settings", function* () {
    const endpoints = yield* EndpointRepository
    const { organization } = yield* seedCampaign({ recipients: 0 })
    for (const [url, shown] of ADDRESSES) {
      const id = yield* createIdentifier("endpoint")
      const made = yield* endpoints.create({
        organizationId: organization.id,
        id,
        url: EndpointUrl.make(url),
        eventTypes: null,
        standardWebhooks: true,
      })
      const updated = yield* endpoints.update(id, { maxInFlight: 1 })
      const listed = (yield* endpoints.list(organization.id)).find((each) => each.id === id)!
      const switched = [yield* endpoints.disable(id), yield* endpoints.enable(id)]
      const all = [made, updated, listed, yield* endpoints.find(id), ...switched]
      expect(new Set(all.map((each) => each.url))).toEqual(new Set([shown]))
      expect(all.map(({ standardWebhooks }) => standardWebhooks)).not.toContain(false)
      expect(yield* endpoints.address(id)).toBe(url)
    }
  })

  test("shows the names of headers, encrypts their values, and removes them with the endpoint", function* () {
    const { organization, endpoint } = yield* seedCampaign({ recipients: 0 })
    const { create, headers, remove, update } = yield* EndpointRepository
    const stored = Effect.map(column<Uint8Array>`select ciphertext from endpoint_headers`, (found) =>
      found.map((bytes) => Buffer.from(bytes).toString("latin1")),
    )
    const given = Redacted.make({ "X-Api-Key": "t0psecret", Authorization: "Bearer t0psecret" })
    const id = yield* createIdentifier("endpoint")
    const url = EndpointUrl.make("https://partner.test/")
    const made = [yield* create({ organizationId: organization.id, id, url, headers: given })]
    made.push(yield* update(endpoint.id, { headers: given }))
    for (const each of made) {
      expect(each.headers).toEqual(["X-Api-Key", "Authorization"])
      expect(JSON.stringify(each)).not.toContain("t0psecret")
      expect(Redacted.value((yield* headers(each.id))!)).toEqual(Redacted.value(given))
    }
    expect(yield* stored).toEqual([expect.not.stringContaining("Key"), expect.not.stringContaining("Key")])
    expect((yield* update(id, { maxInFlight: 1 })).headers).toEqual(["X-Api-Key", "Authorization"])
    expect((yield* update(id, { headers: null })).headers).toEqual([])
    expect(yield* headers(id)).toBeNull()
    yield* remove(endpoint.id)
    expect(yield* stored).toEqual([])
  })

  test("keeps headers from another origin, unless they are entered again or removed", function* () {
    const { endpoint } = yield* seedCampaign({ recipients: 0, endpointUrl: "https://partner.test/a" })
    const { address, headers } = yield* EndpointRepository
    const given = Redacted.make({ "X-Api-Key": "1" })
    yield* updateEndpoint(endpoint.id, { headers: given })
    yield* updateEndpoint(endpoint.id, { url: "https://partner.test/b" })
    for (const url of ["https://evil.test/b", "https://partner.test:8443/b"]) {
      expect(yield* Effect.flip(updateEndpoint(endpoint.id, { url }))).toMatchObject({
        ...{ _tag: "HeadersNeeded", names: "X-Api-Key" },
      })
      expect(yield* address(endpoint.id)).toBe("https://partner.test/b")
    }
    yield* updateEndpoint(endpoint.id, { url: "https://new.test/", headers: given })
    expect(Redacted.value((yield* headers(endpoint.id))!)).toEqual({ "X-Api-Key": "1" })
    yield* updateEndpoint(endpoint.id, { url: "https://other.test/", headers: null })
    expect((yield* updateEndpoint(endpoint.id, { url: "https://third.test/" })).headers).toEqual([])
    // The origin that is compared is that of a concurrent change.
    const moved = updateEndpoint(endpoint.id, { url: "https://other.test/", headers: given })
    const back = yield* whileOpen(moved, () =>
      Effect.tap(Effect.forkDetach(Effect.flip(updateEndpoint(endpoint.id, { url: "https://third.test/" }))), () =>
        untilBlocked(),
      ),
    )
    expect(yield* Fiber.join(back)).toMatchObject({ _tag: "HeadersNeeded" })
  })

  test("keeps an endpoint enabled until it is disabled", function* () {
    const endpoints = yield* EndpointRepository
    const { id } = yield* createOrganization("Acme")
    const endpoint = yield* create(id, ["outreach.email_sent"])
    expect(endpoint).toMatchObject({ enabled: true, standardWebhooks: false, eventTypes: ["outreach.email_sent"] })
    const idle = {
      breaker: "closed",
      failures: 0,
      nextProbeAt: null,
      failingSince: null,
      notices: 0,
      waiting: 0,
      waitingReplays: 0,
      inFlight: 0,
      oldestDueAt: null,
      position: expect.any(String),
      lagEvents: 0,
      lagSeconds: 0,
      owner: null,
      ...{ dueLater: 0, deadLetters: 0, causes: 0 },
    }
    expect(yield* endpoints.list(id)).toEqual([{ ...endpoint, ...idle }])
    const disabled = { enabled: false, disabledAt: expect.any(String), disabledReason: "operator", version: 2 }
    const once = yield* endpoints.disable(endpoint.id)
    expect(once).toEqual({ ...endpoint, ...disabled })
    expect(yield* endpoints.disable(endpoint.id)).toEqual(once)
    expect(yield* endpoints.list(id)).toEqual([{ ...endpoint, ...idle, ...disabled }])
    expect(yield* endpoints.enable(endpoint.id)).toEqual({ ...endpoint, version: 3 })
    expect(yield* endpoints.find(endpoint.id)).toEqual({ ...endpoint, ...idle, version: 3 })
  })

  test("increases the version with each change of an endpoint or of its active secrets, and not otherwise", function* () {
    const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
    const other = (yield* seedCampaign({ recipients: 0 })).endpoint
    const { disable, enable, find, update } = yield* EndpointRepository
    const { list, revoke } = yield* SigningSecretRepository
    const url = EndpointUrl.make("https://partner.test/elsewhere")
    const changes: ReadonlyArray<
      Effect.Effect<unknown, unknown, SigningSecretRepository | SecureRandom.SecureRandom | Transaction>
    > = [
      update(endpoint.id, { url }),
      update(endpoint.id, { eventTypes: ["outreach.email_sent"] }),
      update(endpoint.id, { maxInFlight: 3 }),
      update(endpoint.id, { standardWebhooks: true }),
      update(endpoint.id, { headers: Redacted.make({ "X-Api-Key": "1" }) }),
      // Another value of the same header.
      update(endpoint.id, { headers: Redacted.make({ "X-Api-Key": "2" }) }),
      disable(endpoint.id),
      enable(endpoint.id),
      // The second call also resets the failures.
      enable(endpoint.id),
      rotateSecret(organization.id, 3600),
      rotateSecret(organization.id, 0),
      Effect.flatMap(list({ organizationId: organization.id }), ([secret]) => revoke(secret!.id)),
    ]
    let { version } = yield* find(endpoint.id)
    const { version: others } = yield* find(other.id)
    for (const change of changes) {
      yield* change
      const { version: raised } = yield* find(endpoint.id)
      expect(raised).toBeGreaterThan(version)
      version = raised
    }
    yield* update(endpoint.id, { standardWebhooks: true, maxInFlight: 3 })
    yield* sql`update signing_secrets set last_verified_at = clock_timestamp() where organization_id = ${organization.id}`
    expect(yield* find(endpoint.id)).toMatchObject({ version })
    expect(yield* find(other.id)).toMatchObject({ version: others })
  })

  test("delivers events published before a change of types with the earlier types", function* () {
    const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
    const endpoints = yield* EndpointRepository
    const before = yield* publishSent(campaign, 3)
    yield* updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_bounced"] })
    yield* publishSent(campaign, 2)
    yield* updateEndpoint(endpoint.id, { eventTypes: null })
    const after = yield* publishSent(campaign, 4)
    expect(yield* endpoints.find(endpoint.id)).toMatchObject({ waiting: 7, lagEvents: 4 })
    const taken = (yield* (yield* workerOn()).take()).filter(({ endpointId }) => endpointId === endpoint.id)
    expect(taken.map(({ eventId }) => eventId).sort()).toEqual([...before, ...after].sort())
  })

  test("waits for a write of the owner before changing types, and delivers started events only once", function* () {
    const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
    const begun = yield* publishSent(campaign, 3)
    const { take } = yield* workerOn()
    const update = yield* whileOpen(take(), () =>
      Effect.gen(function* () {
        const updating = yield* Effect.forkDetach(updateEndpoint(endpoint.id, { eventTypes: [] }))
        yield* untilBlocked()
        return updating
      }),
    )
    yield* Fiber.join(update)
    expect(yield* sql`select from deliveries where endpoint_id = ${endpoint.id}`).toEqual([])
    expect(yield* sql`select open from reader_positions where endpoint_id = ${endpoint.id}`).toEqual([{ open: begun }])
  })

  test("rejects unknown ids", function* () {
    const endpointId = yield* createIdentifier("endpoint")
    const { find, enable, disable } = yield* EndpointRepository
    for (const ask of [find, enable, disable]) {
      expect(yield* Effect.flip<unknown, unknown, never>(ask(endpointId))).toMatchObject({
        _tag: "EndpointNotFound",
        endpointId,
      })
    }
    expect(yield* Effect.flip(create(yield* createIdentifier("organization"), null))).toMatchObject({
      _tag: "OrganizationNotFound",
    })
  })

  test("returns an endpoint's pending deliveries, the oldest due time, the calls in flight, and its position", function* () {
    const { take, settle, token } = yield* workerOn()
    const { endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
    const events = yield* publishSent(campaign, 5)
    const published =
      yield* column<string>`select emitted_at as at from events where id = any (${events}::text[]) order by id`
    const { find } = yield* EndpointRepository
    expect(yield* find(endpoint.id)).toMatchObject({
      waiting: 5,
      inFlight: 0,
      oldestDueAt: published[0],
      lagEvents: 5,
      owner: null,
    })
    const deliveries = (yield* take(4)).filter(({ endpointId }) => endpointId === endpoint.id)
    expect(yield* find(endpoint.id)).toMatchObject({
      ...{ waiting: 1, inFlight: 4, oldestDueAt: published[4], lagEvents: 1, position: published[0], owner: token },
    })
    yield* settle(deliveries.slice(0, 2))
    yield* settle(deliveries.slice(2, 3), { settlement: "retry", delay: 3600 }, 503)
    yield* take(1)
    // A delayed retry is waiting, but isn't due.
    const status = yield* find(endpoint.id)
    expect(status).toMatchObject({
      waiting: 1,
      inFlight: 2,
      oldestDueAt: null,
      lagEvents: 0,
      lagSeconds: 0,
      position: published[3],
    })
  })

  test("starts at its creation, or at an earlier time", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    const events = yield* publishSent(campaign, 3)
    const second = yield* value<Timestamp>`select emitted_at as at from events where id = ${events[1]!}`
    const repository = yield* EndpointRepository
    const now = yield* create(organization.id, null)
    const id = yield* createIdentifier("endpoint")
    const url = EndpointUrl.make("https://partner.test/since")
    yield* repository.create({ organizationId: organization.id, id, url, eventTypes: null, since: second })
    expect((yield* repository.find(now.id)).lagEvents).toBe(0)
    expect((yield* repository.find(id)).lagEvents).toBe(2)
    const taken = yield* (yield* workerOn()).take()
    expect(taken.filter(({ endpointId }) => endpointId === id).map(({ eventId }) => eventId)).toEqual(events.slice(1))
  })

  test("shows the breaker open, probing and recovering; enabling the endpoint resets it and wakes the workers", function* () {
    const { find, enable } = yield* EndpointRepository
    const notifications = yield* (yield* PgClient.PgClient).listen("hints")
    const leases = yield* DeliveryLeases
    const { take, token } = yield* workerOn()
    const { endpoint } = yield* seedCampaign({ recipients: 0 })
    const endpointId = endpoint.id
    yield* take(0)
    const write = (failures: number, allowance: number | null, probeInMs: number) =>
      leases.write(token, [
        {
          endpointId,
          breaker: { version: endpoint.version, failures, allowance, probeInMs },
          outcomes: [],
        },
      ])
    yield* write(4, null, 0)
    expect(yield* find(endpointId)).toMatchObject({ breaker: "closed", failures: 4, nextProbeAt: null })
    yield* write(5, 1, 60_000)
    expect(yield* find(endpointId)).toMatchObject({ breaker: "open", failures: 5, nextProbeAt: expect.any(String) })
    yield* write(5, 1, 0)
    expect(yield* find(endpointId)).toMatchObject({ breaker: "probing", failures: 5, nextProbeAt: null })
    yield* write(0, 2, 0)
    expect(yield* find(endpointId)).toMatchObject({ breaker: "recovering", failures: 0, nextProbeAt: null })

    yield* enable(endpointId)
    const topics: Array<string> = []
    while (!topics.includes("endpoints")) topics.push(...(yield* Queue.take(notifications)).payload.split(","))
    expect(yield* find(endpointId)).toMatchObject({ breaker: "closed", failures: 0 })
  })
})
