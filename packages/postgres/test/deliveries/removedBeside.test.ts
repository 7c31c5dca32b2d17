import { describe, expect } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { removeEndpoint, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay, createLogReplay } from "@outreach/domain/deliveries/Replays"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret, rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type EndpointId, type SecretId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import type { adaptersFor } from "@outreach/testing/adaptersFor"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { effectTest } from "@outreach/testing/effectTest"
import { insertDeadLetters } from "@outreach/testing/insertDeadLetters"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { publishTogether } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase({ maxConnections: 12 }))
type Work = Effect.Effect<unknown, { readonly _tag: string }, Layer.Success<ReturnType<typeof adaptersFor>>>

const ROUNDS = propertyRuns(5)
const EVENTS = 20
const WHOLE_LOG = { from: "2026-01-01T00:00:00.000000Z" as Timestamp, to: "2999-01-01T00:00:00.000000Z" as Timestamp }

/** An endpoint with retries, calls in flight, events that wait and dead letters, beside another of its organization. */
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
  yield* worker.settle(taken.slice(0, 2), { state: "retry", delaySeconds: 0 }, 500)
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

/** What waits of a removed endpoint, and what still signs or sends for it. */
const leftOf = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const sql = yield* SqlClient.SqlClient
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

/** Removes an endpoint beside its worker, the end of what waits, and something else that either succeeds or is told of the removal. */
const raced = Effect.fnUntraced(function* (
  round: number,
  besides: (seeded: Seeded) => ReadonlyArray<Work>,
  before: (seeded: Seeded) => Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof adaptersFor>>>,
) {
  const { endRemoved } = yield* EndpointRepository
  const { handOver } = yield* DeliveryLeases
  const seeded = yield* seed
  const { endpoint, other, worker, inFlight } = seeded
  yield* before(seeded)
  const outcomes: Array<string> = []
  const heard = besides(seeded).map((work) =>
    Effect.match(work, {
      onSuccess: () => outcomes.push("succeeded"),
      onFailure: ({ _tag }) => outcomes.push(_tag),
    }),
  )
  const removal = removeEndpoint(endpoint.id)
  const work = Effect.andThen(worker.settle(inFlight), worker.take(4))
  // Each has its turn to begin first.
  const all = [removal, ...heard, Effect.andThen(endRemoved, endRemoved), endRemoved]
  const [taken] = yield* Effect.all([work, ...all.slice(round % all.length), ...all.slice(0, round % all.length)], {
    concurrency: "unbounded",
  })
  // The worker learns of it, and gives up what it has not called.
  const unbegun = taken.flatMap(({ id, isRow, endpointId }) => (isRow && endpointId === endpoint.id ? [id] : []))
  yield* handOver(worker.token, [{ endpointId: endpoint.id, calling: [], unbegun }])
  yield* Effect.repeat(endRemoved, { until: (ended) => ended === 0 })
  expect(yield* leftOf(endpoint.id)).toEqual(NOTHING)
  const ofOther = yield* deliveriesTo(other.id)
  expect(ofOther.filter(({ state }) => state === "pending" || state === "sending")).toHaveLength(EVENTS)
  expect(outcomes.filter((outcome) => outcome !== "succeeded" && outcome !== "EndpointRemoved")).toEqual([])
})
const nothing = () => Effect.void
const beside = (
  title: string,
  besides: (seeded: Seeded) => ReadonlyArray<Work>,
  before: Parameters<typeof raced>[2] = nothing,
) =>
  test(title, function* () {
    for (let round = 0; round < ROUNDS; round++) yield* raced(round, besides, before)
  })

describe("the removal of an endpoint leaves nothing that waits, and waits in no circle,", () => {
  beside("beside changes of its event types, address and limits", ({ endpoint }) => [
    updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_sent"] }, { allowPrivate: false }),
    updateEndpoint(endpoint.id, { eventTypes: null }, { allowPrivate: false }),
    updateEndpoint(endpoint.id, { url: "https://new.test/", maxInFlight: 3 }, { allowPrivate: false }),
  ])

  beside(
    "beside its enabling and disabling",
    ({ endpoint }) => [
      EndpointRepository.use(({ enable }) => enable(endpoint.id)),
      EndpointRepository.use(({ disable }) => disable(endpoint.id)),
      EndpointRepository.use(({ enable }) => enable(endpoint.id)),
    ],
    ({ endpoint }) => EndpointRepository.use(({ disable }) => disable(endpoint.id)),
  )

  beside("beside the creation of replays and their first chunks", ({ endpoint }) => [
    Effect.andThen(
      createLogReplay({ ...WHOLE_LOG, endpointId: endpoint.id }, 50),
      ReplayJobQueue.use(({ replayNextChunk }) => replayNextChunk),
    ),
    Effect.andThen(
      createDeadLetterReplay({ endpointId: endpoint.id }, 10),
      ReplayJobQueue.use(({ replayNextChunk }) => replayNextChunk),
    ),
  ])

  const chunk = ReplayJobQueue.use(({ replayNextChunk }) => replayNextChunk)
  beside(
    "beside chunks of replays of its log, of its dead letters, and of those of its organization",
    () => [chunk, chunk, chunk, Effect.andThen(chunk, chunk)],
    ({ organization, endpoint }) =>
      Effect.andThen(
        createLogReplay({ ...WHOLE_LOG, endpointId: endpoint.id }, 50),
        createDeadLetterReplay({ organizationId: organization.id }, 10),
      ),
  )

  beside(
    "beside rotations and revocations of its own secrets and of its organization's",
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
