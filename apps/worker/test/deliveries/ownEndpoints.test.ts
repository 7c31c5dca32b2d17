import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId } from "@outreach/domain/Identifier"
import { clockTest as test } from "@outreach/testing/runWith"
import { Effect, Redacted, Semaphore } from "effect"
import { expect } from "vitest"
import { CURRENT_MS, createDeliveryScheduler } from "../../src/deliveries/DeliveryScheduler.ts"
import { ownEndpoints } from "../../src/deliveries/ownEndpoints.ts"
import { ownedEndpoint } from "./ownedEndpoint.ts"

/** A worker with one endpoint, and a simulated database. */
const setUpAs = Effect.fnUntraced(function* (registration: Registration) {
  const clock = { now: 1000 }
  const endpoint = ownedEndpoint()
  const database = {
    endpoint,
    beatMs: 0,
    isAway: false,
    /** Whether the worker receives its hints. */
    isListening: false,
    /** Endpoints that were taken and given up. */
    moved: [] as Array<string>,
    changed: [] as ReadonlyArray<EndpointId>,
    written: [] as Effect.Success<ReturnType<DeliveryLeases["Service"]["heartbeat"]>>["written"],
    /** Snapshot passed to each beat. */
    asked: [] as Array<string | null | undefined>,
    /** Refreshed endpoints; undefined for all. */
    refreshed: [] as Array<ReadonlyArray<EndpointId> | undefined>,
  }
  const secret = { secret: Redacted.make("whsec"), endsInMs: null }
  const leases = {
    enter: () => Effect.void,
    heartbeat: (_worker, _leaseSeconds, snapshot) =>
      Effect.suspend(() => {
        clock.now += database.beatMs
        database.asked.push(snapshot)
        if (database.isAway) return Effect.die(new Error("away"))
        const { changed, written } = database
        return Effect.succeed({
          ...registration,
          endpoints: snapshot === undefined ? registration.endpoints : null,
          changed,
          written,
          snapshot: String(database.asked.length),
        })
      }),
    listOwned: (_worker, endpoints) =>
      Effect.sync(() => {
        database.refreshed.push(endpoints)
        return [database.endpoint]
      }),
    secrets: () => Effect.succeed(new Map([[endpoint.endpointId, { signing: [secret], headers: null }]])),
    acquire: (_worker, count) =>
      Effect.sync(() => {
        database.moved.push(`takes ${count}`)
        return { taken: 0, takenOver: 0 }
      }),
    handOver: (_worker, given) =>
      Effect.sync(() => void database.moved.push(...given.map(({ endpointId }) => `gives up ${endpointId}`))),
    recoverLost: () => Effect.succeed([]),
    nextDue: () => Effect.succeed([]),
  } as Partial<DeliveryLeases["Service"]> as DeliveryLeases["Service"]
  const now = () => clock.now
  const scheduler = createDeliveryScheduler({ maxInFlight: 16, perEndpoint: 16, callMs: 15_000, now })
  const noteDeadLetter = () => Effect.void
  const writing = yield* Semaphore.make(1)
  const isListening = () => database.isListening
  const options = { worker: "", leaseSeconds: 10, scheduler, writing, noteDeadLetter, now, isListening }
  const endpoints = yield* Effect.provideService(ownEndpoints(options), DeliveryLeases, leases)
  return { clock, database, scheduler, ...endpoints }
})
interface Registration {
  readonly rank: number
  readonly workers: number
  readonly endpoints: number
}
const setUp = setUpAs({ rank: 0, workers: 1, endpoints: 1 })

for (const [rank, endpoints, move] of [
  [0, 5, "takes 2"],
  [1, 5, "takes 1"],
  [1, 1, "gives up whe_1"],
] as const) {
  test(`owns its equal share of the endpoints: the worker with rank ${rank} of ${endpoints} ${move}`, function* () {
    const { beat, database } = yield* setUpAs({ rank, workers: 2, endpoints })
    yield* beat
    expect(database.moved).toEqual([move])
  })
}

test("lets no call begin two seconds after the database last confirmed what is known, though the lease goes on", function* () {
  const { beat, clock, holdsLease, isCurrent, database } = yield* setUp
  expect(isCurrent()).toBe(false)
  yield* beat
  clock.now += CURRENT_MS - 1
  expect(isCurrent()).toBe(true)
  clock.now += 1
  expect([isCurrent(), holdsLease()]).toEqual([false, true])
  // The time counts from the start of the request.
  database.beatMs = CURRENT_MS
  yield* beat
  expect([isCurrent(), holdsLease()]).toEqual([false, true])
  database.beatMs = 0
  yield* beat
  expect(isCurrent()).toBe(true)
})

test("refreshes an endpoint immediately when the database reports a change, without a hint", function* () {
  const { beat, database, scheduler } = yield* setUp
  const { endpointId } = database.endpoint
  yield* beat
  yield* beat
  expect(database.refreshed).toEqual([undefined])
  database.endpoint = { ...database.endpoint, version: 2, url: EndpointUrl.make("https://partner.test/new") }
  database.changed = [endpointId]
  yield* beat
  expect(database.refreshed).toEqual([undefined, [endpointId]])
  expect([...scheduler.queues.values()]).toMatchObject([{ endpoint: { version: 2, url: "https://partner.test/new" } }])
})

test("reads a log on once for each stamp of its organization, without a hint", function* () {
  const { beat, database, scheduler } = yield* setUp
  const isRead = () => scheduler.wantedOfLogs().size > 0
  yield* beat
  expect([isRead(), isRead()]).toEqual([true, false])
  const { organizationId } = database.endpoint
  for (const last of ["10:00", "10:01"]) {
    database.written = [{ organizationId, last }]
    yield* beat
    expect(isRead()).toBe(true)
    // An old transaction makes the database report it again.
    yield* beat
    expect(isRead()).toBe(false)
  }
})

test("refreshes all owned endpoints after a failed beat, and continues to read all logs", function* () {
  const { beat, database, scheduler } = yield* setUp
  yield* beat
  yield* beat
  scheduler.wantedOfLogs()
  database.isAway = true
  yield* Effect.exit(beat)
  database.isAway = false
  yield* beat
  yield* beat
  expect(database.asked).toEqual([undefined, "1", "2", undefined, "4"])
  expect(database.refreshed).toEqual([undefined, undefined])
  expect(scheduler.wantedOfLogs().size).toBe(1)
})

test("scans the endpoints of a quiet worker only in every fourth beat and on request, from the last scan on", function* () {
  const { beat, clock, database, isCurrent, holdsLease, requestView, endpointsChanged } = yield* setUp
  database.isListening = true
  for (let n = 0; n < 3; n++) yield* beat
  expect(database.asked).toEqual([undefined, null, null])
  clock.now += CURRENT_MS
  yield* beat
  expect([isCurrent(), holdsLease()]).toEqual([false, true])
  yield* beat
  expect(isCurrent()).toBe(true)
  requestView()
  yield* beat
  endpointsChanged()
  yield* beat
  expect(database.asked).toEqual([undefined, null, null, null, "1", "5", "6"])
})

test("scans all endpoints after a quiet beat failed, and in each beat while it doesn't receive hints", function* () {
  const { beat, database } = yield* setUp
  database.isListening = true
  yield* beat
  database.isAway = true
  yield* Effect.exit(beat)
  database.isAway = false
  yield* beat
  database.isListening = false
  yield* beat
  expect(database.asked).toEqual([undefined, null, undefined, "3"])
})
