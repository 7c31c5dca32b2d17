import { expect, it } from "@effect/vitest"
import { DeliveryLeases, type OwnedEndpoint } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Redacted, Semaphore } from "effect"
import { createDeliveryScheduler } from "../../src/deliveries/DeliveryScheduler.ts"
import { ownEndpoints } from "../../src/deliveries/ownEndpoints.ts"
import { workerLimits } from "../../src/workerLimits.ts"

const { currentMs } = workerLimits.deliveries

/** A worker with one endpoint, in a database that tells what is set here. */
const setUp = Effect.gen(function* () {
  const clock = { now: 1000 }
  const endpoint: OwnedEndpoint = {
    endpointId: "whe_1" as EndpointId,
    organizationId: "org_1" as OrganizationId,
    version: 1,
    enabled: true,
    url: EndpointUrl.make("https://partner.test/"),
    maxInFlight: null,
    standardWebhooks: false,
    failures: 0,
    allowance: null,
    probeInMs: 0,
    inFlightElsewhere: 0,
  }
  const database = { versions: 1, endpoint, beatMs: 0, reads: 0 }
  const secret = { secret: Redacted.make("whsec"), endsInMs: null }
  const leases = {
    heartbeat: () =>
      Effect.sync(() => {
        clock.now += database.beatMs
        return { rank: 0, workers: 1, endpoints: 1, versions: database.versions }
      }),
    listOwned: () =>
      Effect.sync(() => {
        database.reads++
        return [database.endpoint]
      }),
    secrets: () => Effect.succeed(new Map([[endpoint.organizationId, [secret]]])),
    recoverLost: () => Effect.succeed([]),
    findBehind: () => Effect.succeed([]),
    nextDue: () => Effect.succeed([]),
  } as unknown as DeliveryLeases["Service"]
  const now = () => clock.now
  const scheduler = createDeliveryScheduler({ maxInFlight: 16, perEndpoint: 16, now })
  const noteDeadLetter = () => Effect.void
  const writing = yield* Semaphore.make(1)
  const endpoints = yield* ownEndpoints({ worker: "", leaseSeconds: 10, scheduler, writing, noteDeadLetter, now }).pipe(
    Effect.provideService(DeliveryLeases, leases),
  )
  return { clock, database, scheduler, ...endpoints }
})

it.effect(
  "lets no call begin two seconds after the database last confirmed what is known, though the lease goes on",
  () =>
    Effect.gen(function* () {
      const { beat, clock, holdsLease, isCurrent, database } = yield* setUp
      expect(isCurrent()).toBe(false)
      yield* beat
      clock.now += currentMs - 1
      expect(isCurrent()).toBe(true)
      clock.now += 1
      expect([isCurrent(), holdsLease()]).toEqual([false, true])
      // The time counts from when the question was asked.
      database.beatMs = currentMs
      yield* beat
      expect([isCurrent(), holdsLease()]).toEqual([false, true])
      database.beatMs = 0
      yield* beat
      expect(isCurrent()).toBe(true)
    }),
)

it.effect(
  "reads its endpoints again as soon as the sum of the versions says that one has changed, without a hint",
  () =>
    Effect.gen(function* () {
      const { beat, database, scheduler } = yield* setUp
      yield* beat
      yield* beat
      expect(database.reads).toBe(1)
      database.endpoint = { ...database.endpoint, version: 2, url: EndpointUrl.make("https://partner.test/new") }
      database.versions = 2
      yield* beat
      expect(database.reads).toBe(2)
      expect([...scheduler.queues.values()]).toMatchObject([{ version: 2, url: "https://partner.test/new" }])
    }),
)
