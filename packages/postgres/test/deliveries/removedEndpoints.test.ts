import { describe, expect } from "@effect/vitest"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { replayDeadLetters } from "@outreach/domain/deliveries/DeadLetters"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository, removeEndpoint, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { createDeadLetterReplay, createLogReplay, ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import {
  rotateSecret,
  rotateSecretWithinBound,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type EndpointId, type SecretId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import type { adaptersFor } from "@outreach/testing/adaptersFor"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, type Layer } from "effect"

const { test } = testsOnDatabase({ maxConnections: 12 })
const newWorker = Effect.suspend(() => workerOn(crypto.randomUUID()))
const LOG_BEGINS = "2026-01-01T00:00:00.000000Z" as Timestamp
const LOG_ENDS = "2999-01-01T00:00:00.000000Z" as Timestamp

/** Cancels all pending work of removed endpoints. */
const endAll = Effect.flatMap(EndpointRepository, ({ endRemoved }) =>
  Effect.repeat(endRemoved, { until: (ended) => ended === 0 }),
)
const statesOf = (endpointId: EndpointId) =>
  Effect.flatMap(DeliveryReader, ({ list }) => list({ endpointId }, 100)).pipe(
    Effect.map(({ rows }) => rows.map(({ state }) => state).sort()),
  )

/** An endpoint with a retry, a replay, two unread events, a call in flight, and a dead letter. */
const seedWaiting = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 0, endpointUrl: "https://partner.test/hooks?key=topsecret" })
  const { organization, endpoint, campaign } = seeded
  const worker = yield* newWorker
  const [eventId] = yield* publishSent(campaign, 3)
  // A worker also claims the endpoints of other tests.
  const taken = (yield* worker.take()).filter(({ endpointId }) => endpointId === endpoint.id)
  yield* worker.settle([taken[0]!])
  yield* worker.settle([taken[1]!], { settlement: "retry", delay: 3600 }, 500)
  const dead = {
    organizationId: organization.id,
    endpointId: endpoint.id,
    eventId: eventId!,
    reason: "rejected",
  } as const
  const [deadLetter, replayed] = yield* insertDeadLetters([dead, dead])
  yield* replayDeadLetters(new Set([replayed!]))
  yield* publishSent(campaign, 2)
  return { ...seeded, worker, inFlight: taken[2]!, deadLetter: deadLetter! }
})

describe("a removed endpoint", () => {
  test("lists its pending work, and cancels it visibly when its worker has released it", function* () {
    const { endpoint, worker, inFlight } = yield* seedWaiting
    const { find, list, endRemoved } = yield* EndpointRepository
    const leases = yield* DeliveryLeases
    expect(yield* find(endpoint.id)).toMatchObject({ lagEvents: 2, waiting: 4, waitingReplays: 1, inFlight: 1 })
    const removed = yield* removeEndpoint(endpoint.id)
    expect(removed).toMatchObject({ enabled: false, removedAt: expect.any(String) })
    // The worker stops reading and claiming, and is notified.
    expect((yield* worker.take()).filter(({ endpointId }) => endpointId === endpoint.id)).toEqual([])
    const [owned] = yield* leases.listOwned(worker.token, [endpoint.id])
    expect(owned).toMatchObject({ enabled: false })
    expect(yield* statesOf(endpoint.id)).toEqual(["delivered", "pending", "pending", "rejected", "rejected", "sending"])
    // Calls in flight are left to their worker.
    expect(yield* endRemoved).toBeGreaterThan(0)
    yield* leases.handOver(worker.token, [{ endpointId: endpoint.id, calling: [inFlight.eventId], unsent: [] }])
    yield* endAll
    expect(yield* statesOf(endpoint.id)).toEqual([
      ...["cancelled", "cancelled", "delivered", "rejected", "rejected", "sending"],
    ])
    yield* worker.settle([{ ...inFlight, isRow: true }])
    yield* endAll
    expect(yield* statesOf(endpoint.id)).toEqual([
      ...["cancelled", "cancelled", "delivered", "delivered", "rejected", "rejected"],
    ])
    const reader = yield* DeliveryReader
    const { rows: cancelled } = yield* reader.list({ endpointId: endpoint.id, state: "cancelled" }, 10)
    const attempts = yield* Effect.forEach(cancelled, ({ id }) => reader.find(id))
    expect(attempts.map((found) => found.attempts.map(({ status }) => status)).sort()).toEqual([[], [500]])
    expect((yield* reader.list({ endpointId: endpoint.id, state: "delivered" }, 10)).rows).toHaveLength(2)
    expect(yield* find(endpoint.id)).toMatchObject({ waiting: 0, lagEvents: 0, inFlight: 0, oldestDueAt: null })
    expect(yield* list(endpoint.organizationId)).toEqual([])
    expect(yield* list(endpoint.organizationId, "removed")).toMatchObject([{ id: endpoint.id }])
  })

  test("keeps its dead letters, which can't be replayed and aren't counted by gauges", function* () {
    const { endpoint, deadLetter } = yield* seedWaiting
    const countRejected = Effect.map(readFacts(["deadLetters"]), ({ deadLetters }) => deadLetters.rejected)
    // Other tests may have removed endpoints.
    yield* endAll
    const before = yield* countRejected
    yield* removeEndpoint(endpoint.id)
    const refusal = yield* Effect.flip(replayDeadLetters(new Set([deadLetter])))
    expect(refusal.message).toContain("endpoint that was removed")
    yield* endAll
    expect(yield* countRejected).toBe(before - 1)
    expect(yield* (yield* FailureGroupReader).list({ endpointId: endpoint.id, largest: true }, 5)).toEqual([])
    expect(yield* createDeadLetterReplay({ endpointId: endpoint.id }, 10)).toMatchObject({
      state: "finished",
      total: 0,
    })
    const { delivery } = yield* (yield* DeliveryReader).find(deadLetter)
    expect(delivery).toMatchObject({ state: "rejected", replayedAs: null })
  })

  test("can't be changed, enabled, disabled, tested, replayed to or given a secret, and returns the reason", function* () {
    const { endpoint } = yield* seedWaiting
    const { enable, disable, update } = yield* EndpointRepository
    yield* removeEndpoint(endpoint.id)
    const range = { endpointId: endpoint.id, from: LOG_BEGINS, to: LOG_ENDS }
    const refused = [
      removeEndpoint(endpoint.id),
      enable(endpoint.id),
      disable(endpoint.id),
      update(endpoint.id, { maxInFlight: 3 }),
      updateEndpoint(endpoint.id, { eventTypes: null }, "1"),
      rotateSecretWithinBound({ endpointId: endpoint.id }, 0),
      createLogReplay(range, 10),
    ]
    for (const each of refused) {
      expect(yield* Effect.flip(each as Work)).toMatchObject({ _tag: "EndpointRemoved", endpointId: endpoint.id })
    }
  })

  test("keeps the redacted address, and deletes its secrets", function* () {
    const { organization, endpoint } = yield* seedCampaign({
      recipients: 0,
      endpointUrl: "https://partner.test/hooks?key=topsecret",
    })
    const secrets = yield* SigningSecretRepository
    yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
    yield* removeEndpoint(endpoint.id)
    expect(yield* (yield* EndpointRepository).address(endpoint.id)).toBe("https://partner.test/hooks?…")
    expect(yield* secrets.ofEndpoint(endpoint.id)).toBeUndefined()
    expect(
      yield* sql`select ciphertext, expires_at is not null as over from signing_secrets where endpoint_id = ${endpoint.id}`,
    ).toEqual([{ ciphertext: null, over: true }])
    // The organization's secret still signs for the other endpoints.
    expect(yield* secrets.list({ organizationId: organization.id })).toContainEqual(
      expect.objectContaining({ endpointId: null, expiresAt: null }),
    )
  })

  test("records the calls of a lost worker as unknown, and then cancels them", function* () {
    const { endpoint, worker, inFlight } = yield* seedWaiting
    yield* removeEndpoint(endpoint.id)
    yield* sql`delete from delivery_workers where token = ${worker.token}::uuid`
    yield* endAll
    const { delivery, attempts } = yield* (yield* DeliveryReader).find(inFlight.id)
    expect([delivery.state, attempts.map(({ outcome }) => outcome)]).toEqual(["cancelled", ["outcome_unknown"]])
    expect(yield* sql`select owner from endpoint_readers where endpoint_id = ${endpoint.id}`).toEqual([{ owner: null }])
    // The worker restarts: its writes are rejected, and its deliveries aren't sent.
    expect(yield* worker.settle([inFlight])).toBe(false)
    expect(
      (yield* deliveriesTo(endpoint.id)).filter(({ state }) => state === "pending" || state === "sending"),
    ).toEqual([])
  })

  test("is deleted when its history has been deleted, and not earlier", function* () {
    const { endpoint } = yield* seedWaiting
    const { forgetRemoved } = yield* EndpointRepository
    const here = () => sql`select id from webhook_endpoints where id = ${endpoint.id}`
    yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
    yield* removeEndpoint(endpoint.id)
    yield* sql`update clock_watch set believed_at = clock_timestamp()`
    const forgetAt = Effect.fnUntraced(function* (daysAgo: number) {
      yield* sql`update webhook_endpoints set removed_at = clock_timestamp() - make_interval(days => ${daysAgo}::int) where id = ${endpoint.id}`
      yield* forgetRemoved(90)
      return (yield* here()).length
    })
    // It has pending work, stored dead letters or counted outcomes.
    expect(yield* forgetAt(100)).toBe(1)
    yield* sql`delete from delivery_workers`
    yield* endAll
    expect(yield* forgetAt(100)).toBe(1)
    yield* sql`delete from dead_letters where endpoint_id = ${endpoint.id}`
    yield* sql`delete from failure_groups where endpoint_id = ${endpoint.id}`
    expect(yield* forgetAt(100)).toBe(1)
    yield* sql`delete from delivery_outcomes where endpoint_id = ${endpoint.id}`
    expect(yield* forgetAt(90)).toBe(1)
    expect(yield* forgetAt(92)).toBe(0)
    expect(yield* sql`select id from signing_secrets where endpoint_id = ${endpoint.id}`).toEqual([])
    expect(yield* (yield* DeliveryOutcomes).forget(1)).toBeGreaterThanOrEqual(0)
  })
})

type Work = Effect.Effect<unknown, { readonly _tag: string }, Layer.Success<ReturnType<typeof adaptersFor>>>

const ROUNDS = propertyRuns(5)
const EVENTS = 20
const WHOLE_LOG = { from: LOG_BEGINS, to: LOG_ENDS }

/** An endpoint with retries, calls in flight, unread events and dead letters, and a second endpoint of its organization. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, endpoint, campaign } = seeded
  const other = yield* (yield* EndpointRepository).create({
    ...{ organizationId: organization.id, id: yield* createIdentifier("endpoint") },
    url: PrivateEndpointUrl.make("https://other.test/webhooks"),
  })
  const worker = yield* workerOn(crypto.randomUUID())
  const [eventId] = yield* publishTogether(campaign, EVENTS)
  const taken = (yield* worker.take(4)).filter(({ endpointId }) => endpointId === endpoint.id)
  yield* worker.settle(taken.slice(0, 2), { settlement: "retry", delay: 0 }, 500)
  const dead = {
    organizationId: organization.id,
    endpointId: endpoint.id,
    eventId: eventId!,
    reason: "rejected",
  } as const
  yield* insertDeadLetters([dead, dead, dead])
  return { ...seeded, other, worker, inFlight: taken.slice(2) }
})
type Seeded = Effect.Success<typeof seed>

/** The pending work of a removed endpoint, and its remaining secrets. */
const leftOf = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const { waiting, lagEvents, inFlight } = yield* (yield* EndpointRepository).find(endpointId)
  const [counts] = yield* sql<Record<string, number>>`
    select (select count(*)::int from deliveries where endpoint_id = ${endpointId}) as deliveries,
      (select count(*)::int from delivery_attempts where organization_id = endpoint.organization_id) as attempts,
      (select count(*)::int from replay_jobs
        where endpoint_id = ${endpointId} and finished_at is null and cancelled_at is null) as jobs,
      (select count(*)::int from dead_letters where endpoint_id = ${endpointId} and replayed_as is null) as dead,
      (select count(*)::int from failure_groups where endpoint_id = ${endpointId} and (open <> 0 or closed_at is null)) as causes,
      (select count(*)::int from signing_secrets where endpoint_id = ${endpointId}
        and (ciphertext is not null or expires_at is null or expires_at > clock_timestamp())) as secrets
    from webhook_endpoints endpoint where id = ${endpointId} and removed_at is not null and not enabled and event_types = '{}'`
  return { waiting, lagEvents, inFlight, ...counts }
})
const NOTHING = {
  ...{ waiting: 0, lagEvents: 0, inFlight: 0, deliveries: 0, attempts: 0 },
  ...{ jobs: 0, dead: 0, causes: 0, secrets: 0 },
}

/** Removes an endpoint while its worker, the cancellation of its work and `besides` run. Those must succeed or fail with `EndpointRemoved`. */
const raced = Effect.fnUntraced(function* (
  round: number,
  concurrentWork: (seeded: Seeded) => ReadonlyArray<Work>,
  before: (seeded: Seeded) => Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof adaptersFor>>>,
) {
  const { endRemoved } = yield* EndpointRepository
  const { handOver } = yield* DeliveryLeases
  const seeded = yield* seed
  const { endpoint, other, worker, inFlight } = seeded
  yield* before(seeded)
  const outcomes: Array<string> = []
  const tracked = concurrentWork(seeded).map((work) =>
    Effect.match(work, { onSuccess: () => outcomes.push("succeeded"), onFailure: ({ _tag }) => outcomes.push(_tag) }),
  )
  const removal = removeEndpoint(endpoint.id)
  const work = Effect.andThen(worker.settle(inFlight), worker.take(4))
  // The start order rotates.
  const all = [removal, ...tracked, Effect.andThen(endRemoved, endRemoved), endRemoved]
  const [taken] = yield* Effect.all([work, ...all.slice(round % all.length), ...all.slice(0, round % all.length)], {
    concurrency: "unbounded",
  })
  // The worker notices the removal, and releases the deliveries that it hasn't sent.
  const unsent = taken.flatMap(({ id, isRow, endpointId }) => (isRow && endpointId === endpoint.id ? [id] : []))
  yield* handOver(worker.token, [{ endpointId: endpoint.id, calling: [], unsent }])
  yield* Effect.repeat(endRemoved, { until: (ended) => ended === 0 })
  expect(yield* leftOf(endpoint.id)).toEqual(NOTHING)
  const ofOther = yield* deliveriesTo(other.id)
  expect(ofOther.filter(({ state }) => state === "pending" || state === "sending")).toHaveLength(EVENTS)
  expect(outcomes.filter((outcome) => outcome !== "succeeded" && outcome !== "EndpointRemoved")).toEqual([])
})
const noSetUp = () => Effect.void
const race = (
  title: string,
  concurrentWork: (seeded: Seeded) => ReadonlyArray<Work>,
  before: Parameters<typeof raced>[2] = noSetUp,
) =>
  test(title, function* () {
    for (let round = 0; round < ROUNDS; round++) yield* raced(round, concurrentWork, before)
  })

describe("the removal of an endpoint leaves no pending work and doesn't deadlock", () => {
  race("during changes of its event types, address and limits", ({ endpoint }) => [
    updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_sent"] }),
    updateEndpoint(endpoint.id, { eventTypes: null }),
    updateEndpoint(endpoint.id, { url: "https://new.test/", maxInFlight: 3 }),
  ])

  race(
    "while it is enabled and disabled",
    ({ endpoint }) => [
      EndpointRepository.use(({ enable }) => enable(endpoint.id)),
      EndpointRepository.use(({ disable }) => disable(endpoint.id)),
      EndpointRepository.use(({ enable }) => enable(endpoint.id)),
    ],
    ({ endpoint }) => EndpointRepository.use(({ disable }) => disable(endpoint.id)),
  )

  const chunk = ReplayJobQueue.use(({ replayNextChunk }) => replayNextChunk)
  race("during the creation of replays and their first chunks", ({ endpoint }) => [
    Effect.andThen(createLogReplay({ ...WHOLE_LOG, endpointId: endpoint.id }, 50), chunk),
    Effect.andThen(createDeadLetterReplay({ endpointId: endpoint.id }, 10), chunk),
  ])

  race(
    "during replays of its log, of its dead letters, and of its organization's dead letters",
    () => [chunk, chunk, chunk, Effect.andThen(chunk, chunk)],
    ({ organization, endpoint }) =>
      Effect.andThen(
        createLogReplay({ ...WHOLE_LOG, endpointId: endpoint.id }, 50),
        createDeadLetterReplay({ organizationId: organization.id }, 10),
      ),
  )

  race(
    "during rotations and revocations of its secrets and of its organization's secrets",
    ({ organization, endpoint }) => {
      const revoke = Effect.fnUntraced(function* (isOwn: boolean) {
        const secrets = yield* SigningSecretRepository
        const listed = yield* secrets.list({ organizationId: organization.id })
        return yield* secrets.revoke(
          listed.findLast(({ endpointId }) => (endpointId !== null) === isOwn)!.id as SecretId,
        )
      })
      return [
        rotateSecretWithinBound({ endpointId: endpoint.id }, 3600),
        rotateSecret(organization.id, 3600),
        rotateSecret(organization.id, 0),
        revoke(true),
        revoke(false),
      ]
    },
    ({ endpoint }) => rotateSecretWithinBound({ endpointId: endpoint.id }, 3600),
  )
})
