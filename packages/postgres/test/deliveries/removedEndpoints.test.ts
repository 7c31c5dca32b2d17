import { describe, expect } from "@effect/vitest"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { replayDeadLetters } from "@outreach/domain/deliveries/DeadLetters"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { removeEndpoint, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { createDeadLetterReplay, createLogReplay } from "@outreach/domain/deliveries/Replays"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { effectTest } from "@outreach/testing/effectTest"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { publishSent } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase({ layer: Layer.mergeAll(DeliveryReader.layer, FailureGroupReader.layer) }))
const newWorker = Effect.suspend(() => workerOn(crypto.randomUUID()))
const LOG_BEGINS = "2026-01-01T00:00:00.000000Z" as Timestamp
const LOG_ENDS = "2999-01-01T00:00:00.000000Z" as Timestamp

/** Ends all that waits at removed endpoints. */
const endAll = Effect.flatMap(EndpointRepository, ({ endRemoved }) =>
  Effect.repeat(endRemoved, { until: (ended) => ended === 0 }),
)
const statesOf = (endpointId: EndpointId) =>
  Effect.flatMap(DeliveryReader, ({ list }) => list({ endpointId, limit: 100 })).pipe(
    Effect.map((deliveries) => deliveries.map(({ state }) => state).sort()),
  )

/** An endpoint with a retry, a replay, two events that were not read, one in flight, and a dead letter. */
const seedWaiting = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: "https://partner.test/hooks?key=topsecret" })
  const { organization, endpoint, campaign } = seeded
  const worker = yield* newWorker
  const [eventId] = yield* publishSent(campaign, 3)
  const taken = yield* worker.take()
  yield* worker.settle([taken[0]!])
  yield* worker.settle([taken[1]!], { state: "retry", delaySeconds: 3600 }, 500)
  const dead = {
    organizationId: organization.id,
    endpointId: endpoint.id,
    eventId: eventId!,
    reason: "rejected",
  } as const
  const [deadLetter] = yield* insertDeadLetters([dead])
  const [replayed] = yield* insertDeadLetters([dead])
  yield* replayDeadLetters(new Set([replayed!]))
  yield* publishSent(campaign, 2)
  return { ...seeded, worker, inFlight: taken[2]!, deadLetter: deadLetter! }
})

describe("a removed endpoint", () => {
  test("has said what waits for it, and ends it in a readable form once its worker has given it up", function* () {
    const { endpoint, worker, inFlight } = yield* seedWaiting
    const { find, list, endRemoved } = yield* EndpointRepository
    const leases = yield* DeliveryLeases
    expect(yield* find(endpoint.id)).toMatchObject({ lagEvents: 2, waiting: 4, waitingReplays: 1, inFlight: 1 })
    const removed = yield* removeEndpoint(endpoint.id)
    expect(removed).toMatchObject({ enabled: false, removedAt: expect.any(String) })
    // Nothing more is read or taken, and the worker learns of it.
    expect(yield* worker.take()).toEqual([])
    const [owned] = yield* leases.listOwned(worker.token, [endpoint.id])
    expect(owned).toMatchObject({ enabled: false })
    expect(yield* statesOf(endpoint.id)).toEqual(["delivered", "pending", "pending", "rejected", "rejected", "sending"])
    // What is in flight is left to its worker.
    expect(yield* endRemoved).toBeGreaterThan(0)
    yield* leases.handOver(worker.token, [{ endpointId: endpoint.id, calling: [inFlight.eventId], unbegun: [] }])
    yield* endAll
    expect(yield* statesOf(endpoint.id)).toEqual([
      "cancelled",
      "cancelled",
      "delivered",
      "rejected",
      "rejected",
      "sending",
    ])
    yield* worker.settle([{ ...inFlight, isRow: true }])
    yield* endAll
    expect(yield* statesOf(endpoint.id)).toEqual([
      ...["cancelled", "cancelled", "delivered", "delivered", "rejected", "rejected"],
    ])
    const reader = yield* DeliveryReader
    const cancelled = yield* reader.list({ endpointId: endpoint.id, state: "cancelled", limit: 10 })
    const attempts = yield* Effect.forEach(cancelled, ({ id }) => reader.find(id))
    expect(attempts.map((found) => found.attempts.map(({ status }) => status)).sort()).toEqual([[], [500]])
    expect(yield* reader.list({ endpointId: endpoint.id, state: "delivered", limit: 10 })).toHaveLength(2)
    expect(yield* find(endpoint.id)).toMatchObject({ waiting: 0, lagEvents: 0, inFlight: 0, oldestDueAt: null })
    expect(yield* list(endpoint.organizationId)).toEqual([])
    expect(yield* list(endpoint.organizationId, "removed")).toMatchObject([{ id: endpoint.id }])
  })

  test("keeps its dead letters, which nobody can replay and no gauge counts", function* () {
    const { endpoint, deadLetter } = yield* seedWaiting
    const { readState } = yield* DeliveryGauges
    const before = (yield* readState).deadLetters.rejected
    yield* removeEndpoint(endpoint.id)
    const refusal = yield* Effect.flip(replayDeadLetters(new Set([deadLetter])))
    expect(refusal.message).toContain("endpoint that was removed")
    yield* endAll
    expect((yield* readState).deadLetters.rejected).toBe(before - 1)
    expect(yield* (yield* FailureGroupReader).largest({ endpointId: endpoint.id }, 5)).toEqual([])
    expect(yield* createDeadLetterReplay({ endpointId: endpoint.id }, 10)).toMatchObject({
      state: "finished",
      total: 0,
    })
    const { delivery } = yield* (yield* DeliveryReader).find(deadLetter)
    expect(delivery).toMatchObject({ state: "rejected", replayedAs: null })
  })

  test("can neither be changed, enabled, disabled, tested, replayed to nor given a secret, and says why", function* () {
    const { endpoint } = yield* seedWaiting
    const { enable, disable, update } = yield* EndpointRepository
    yield* removeEndpoint(endpoint.id)
    const range = { endpointId: endpoint.id, from: LOG_BEGINS, to: LOG_ENDS }
    const refused = [
      removeEndpoint(endpoint.id),
      enable(endpoint.id),
      disable(endpoint.id),
      update(endpoint.id, { maxInFlight: 3 }),
      updateEndpoint(endpoint.id, { eventTypes: null }, { allowPrivate: false, version: "1" }),
    ]
    for (const each of refused) {
      expect(yield* Effect.flip(each)).toMatchObject({ _tag: "EndpointRemoved", endpointId: endpoint.id })
    }
    expect(yield* Effect.flip(rotateSecretWithinBound({ endpointId: endpoint.id }, 0))).toMatchObject({
      _tag: "EndpointRemoved",
    })
    expect(yield* Effect.flip(createLogReplay(range, 10))).toMatchObject({ _tag: "EndpointRemoved" })
  })

  test("keeps of its address what may be shown, and nothing of its own secrets", function* () {
    const { organization, endpoint } = yield* seedCampaign({
      recipients: 0,
      endpointUrl: "https://partner.test/hooks?key=topsecret",
    })
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* SigningSecretRepository
    yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
    yield* removeEndpoint(endpoint.id)
    expect(yield* (yield* EndpointRepository).address(endpoint.id)).toBe("https://partner.test/hooks?…")
    expect(yield* secrets.ofEndpoint(endpoint.id)).toBeUndefined()
    expect(
      yield* sql`select ciphertext, expires_at is not null as over from signing_secrets where endpoint_id = ${endpoint.id}`,
    ).toEqual([{ ciphertext: null, over: true }])
    // The organization's secret signs on for the others.
    expect(yield* secrets.list({ organizationId: organization.id })).toContainEqual(
      expect.objectContaining({ endpointId: null, expiresAt: null }),
    )
  })

  test("ends its running replays, also one that was created beside the removal", function* () {
    const { endpoint } = yield* seedWaiting
    const sql = yield* SqlClient.SqlClient
    const range = { endpointId: endpoint.id, from: LOG_BEGINS, to: LOG_ENDS }
    const job = yield* createLogReplay(range, 1)
    yield* removeEndpoint(endpoint.id)
    yield* endAll
    const rows = yield* sql<{
      over: boolean
    }>`select cancelled_at is not null as over from replay_jobs where id = ${job.id}`
    expect(rows).toEqual([{ over: true }])
  })

  test("notes the calls of a worker that was lost as unknown, and then cancels them", function* () {
    const { endpoint, worker, inFlight } = yield* seedWaiting
    const sql = yield* SqlClient.SqlClient
    yield* removeEndpoint(endpoint.id)
    yield* sql`delete from delivery_workers where token = ${worker.token}::uuid`
    yield* endAll
    const { delivery, attempts } = yield* (yield* DeliveryReader).find(inFlight.id)
    expect([delivery.state, attempts.map(({ outcome }) => outcome)]).toEqual(["cancelled", ["outcome_unknown"]])
    expect(yield* sql`select owner from endpoint_readers where endpoint_id = ${endpoint.id}`).toEqual([{ owner: null }])
    // The worker lives again: what it writes is refused, and nothing of it is sent.
    expect(yield* worker.settle([inFlight])).toBe(false)
    expect(
      (yield* deliveriesTo(endpoint.id)).filter(({ state }) => state === "pending" || state === "sending"),
    ).toEqual([])
  })

  test("leaves what belongs to an organization that is moving as it is", function* () {
    const { organization, endpoint } = yield* seedWaiting
    const sql = yield* SqlClient.SqlClient
    yield* removeEndpoint(endpoint.id)
    yield* sql`update organizations set frozen_at = clock_timestamp() where id = ${organization.id}`
    yield* endAll
    expect((yield* statesOf(endpoint.id)).filter((state) => state === "cancelled")).toEqual([])
    yield* sql`update organizations set frozen_at = null where id = ${organization.id}`
    yield* endAll
    expect((yield* statesOf(endpoint.id)).filter((state) => state === "cancelled")).toHaveLength(2)
  })

  test("is deleted itself once nothing of its history is kept, and no sooner", function* () {
    const { endpoint } = yield* seedWaiting
    const { forgetRemoved } = yield* EndpointRepository
    const sql = yield* SqlClient.SqlClient
    const here = () => sql`select id from webhook_endpoints where id = ${endpoint.id}`
    yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
    yield* removeEndpoint(endpoint.id)
    yield* sql`update clock_watch set believed_at = clock_timestamp()`
    const forgetAt = Effect.fnUntraced(function* (daysAgo: number) {
      yield* sql`update webhook_endpoints set removed_at = clock_timestamp() - make_interval(days => ${daysAgo}::int) where id = ${endpoint.id}`
      yield* forgetRemoved(90)
      return (yield* here()).length
    })
    // Something waits, its dead letters are stored, its outcomes are counted.
    expect(yield* forgetAt(100)).toBe(1)
    yield* sql`delete from delivery_workers`
    yield* endAll
    expect(yield* forgetAt(100)).toBe(1)
    yield* sql`delete from dead_letters where endpoint_id = ${endpoint.id}`
    yield* sql`delete from failure_group_hours where group_id in (select id from failure_groups where endpoint_id = ${endpoint.id})`
    yield* sql`delete from failure_groups where endpoint_id = ${endpoint.id}`
    expect(yield* forgetAt(100)).toBe(1)
    yield* sql`delete from delivery_outcomes where endpoint_id = ${endpoint.id}`
    expect(yield* forgetAt(90)).toBe(1)
    expect(yield* forgetAt(92)).toBe(0)
    expect(yield* sql`select id from signing_secrets where endpoint_id = ${endpoint.id}`).toEqual([])
    expect(yield* (yield* DeliveryOutcomes).forget(1)).toBeGreaterThanOrEqual(0)
  })
})
