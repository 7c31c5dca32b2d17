import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import {
  DeliveryLeases,
  EXCLUSIVE_FROM_LOSSES,
  MAX_LOSSES,
  type Outcome,
  type Settlement,
} from "@outreach/domain/deliveries/DeliveryLeases"
import { type Endpoint, EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { createEndpoint, EndpointRepository, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type DeliveryId, type EndpointId, type EventId } from "@outreach/domain/Identifier"
import { IdempotencyRepository } from "@outreach/domain/idempotency/executeOnce"
import { Timestamp } from "@outreach/domain/Timestamp"
import { deliveryId } from "@outreach/postgres/deliveries/DeliveryLeasesPg"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql, untilBlocked, value, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Fiber, Redacted } from "effect"
import { beforeEach, describe, expect } from "vitest"
import { keepStatistics } from "../keepStatistics.ts"

const { run, test } = testsOnDatabase()

// A worker claims every free endpoint, so each test starts without enabled endpoints and workers.
beforeEach(() =>
  run(
    Effect.all([
      ...["deliveries", "delivery_attempts", "delivery_workers", "dead_letters", "delivered"].map(
        (table) => sql`delete from ${sql(table)}`,
      ),
      sql`update webhook_endpoints set enabled = false`,
      sql`update endpoint_readers set owner = null`,
      sql`update reader_positions set open = '{}'`,
    ]),
  ),
)

/** Seeds an endpoint and a number of published events. Returns them with the leases of all endpoints. */
const seedLog = Effect.fnUntraced(function* (count: number) {
  const seeded = yield* seedCampaign({ recipients: 0 })
  return { ...seeded, leases: yield* DeliveryLeases, eventIds: yield* publishSent(seeded.campaign, count) }
})
const newWorker = Effect.suspend(() => workerOn(crypto.randomUUID()))
/** Expires a worker's lease, as if it had been killed. */
const die = (token: string) =>
  sql`update delivery_workers set alive_until = clock_timestamp() - interval '1 second' where token = ${token}::uuid`
const find = (id: DeliveryId) => Effect.flatMap(DeliveryReader, (ledger) => ledger.find(id))
const eventsOf = (deliveries: ReadonlyArray<Delivery>) => deliveries.map(({ eventId }) => eventId)
const RETRY = { settlement: "retry", delay: 0 } as const

describe("DeliveryLeasesPg.live", () => {
  test("counts and ranks the live workers that accept endpoints", function* () {
    const leases = yield* DeliveryLeases
    yield* seedLog(0)
    const [a, b, c] = ["a", "b", "c"].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`)
    const first = yield* leases.heartbeat(b!, 10)
    expect(first).toEqual({ rank: 0, workers: 1, endpoints: 1, changed: [], written: [], snapshot: expect.any(String) })
    expect(yield* leases.heartbeat(a!, 10)).toMatchObject({ rank: 0, workers: 2, endpoints: 1 })
    expect(yield* leases.heartbeat(c!, 10)).toMatchObject({ rank: 2, workers: 3 })
    yield* leases.stop(a!)
    expect(yield* leases.heartbeat(c!, 10)).toMatchObject({ rank: 1, workers: 2 })
    yield* die(b!)
    expect(yield* leases.heartbeat(c!, 10)).toMatchObject({ rank: 0, workers: 1 })
    yield* leases.heartbeat(b!, 10)
    yield* leases.leave(b!)
    expect(yield* leases.heartbeat(c!, 10)).toMatchObject({ rank: 0, workers: 1 })
    // After the clock was set back, a lease in the far future doesn't count.
    yield* leases.heartbeat(b!, 3600)
    expect(yield* leases.heartbeat(c!, 10)).toMatchObject({ workers: 1 })
  })

  test("ends the lease of a worker whose process has ended, and of no other", function* () {
    const leases = yield* DeliveryLeases
    yield* seedLog(0)
    const workers = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()]
    for (const [i, process] of ["ended", "running", null].entries()) {
      yield* leases.enter(workers[i]!, process, () => false)
      yield* leases.heartbeat(workers[i]!, 10)
    }
    const successor = crypto.randomUUID()
    yield* leases.enter(successor, "new", (process) => process === "ended")
    expect(yield* leases.heartbeat(successor, 10)).toMatchObject({ workers: 3 })
  })

  test("returns endpoints that changed or changed owner since a snapshot, and organizations that published", function* () {
    const { disable, update } = yield* EndpointRepository
    const { leases, organization, endpoint, campaign } = yield* seedLog(0)
    const other = yield* seedLog(0)
    const { token, take } = yield* newWorker
    yield* take(0)
    let snapshot = (yield* leases.heartbeat(token, 10)).snapshot
    const news = Effect.gen(function* () {
      const heartbeat = yield* leases.heartbeat(token, 10, snapshot)
      snapshot = heartbeat.snapshot
      return { ...heartbeat, written: heartbeat.written.map(({ organizationId }) => organizationId) }
    })
    // Transactions of other databases on this server can cause repeated results.
    const settled = Effect.repeat(news, { until: ({ changed, written }) => changed.length + written.length === 0 })
    expect(yield* settled).toMatchObject({ endpoints: null })

    yield* publishSent(campaign, 1)
    expect((yield* news).written).toContain(organization.id)
    yield* disable(endpoint.id)
    expect(yield* news).toMatchObject({ endpoints: 1, changed: expect.arrayContaining([endpoint.id]) })
    yield* settled
    yield* rotateSecret(other.organization.id, 0)
    expect(yield* news).toMatchObject({ endpoints: 1, changed: [other.endpoint.id] })

    yield* settled
    yield* leases.handOver(token, [{ endpointId: other.endpoint.id, calling: [], unsent: [] }])
    expect(yield* news).toMatchObject({ endpoints: null, changed: [other.endpoint.id] })

    yield* settled
    const request = { organizationId: other.organization.id, key: "key", fingerprint: new Uint8Array(32) }
    yield* (yield* IdempotencyRepository).store(request, { status: 200, headers: {}, body: "{}" }, 1000)
    expect(yield* news).toMatchObject({ changed: [] })

    // Written before the snapshot and committed after it.
    yield* settled
    const both = Effect.andThen(publishSent(campaign, 1), update(other.endpoint.id, { maxInFlight: 3 }))
    yield* whileOpen(both, () => Effect.map(news, ({ changed }) => expect(changed).toEqual([])))
    expect(yield* news).toMatchObject({ changed: [other.endpoint.id], written: [organization.id] })
  })
})

describe("DeliveryLeasesPg.take", () => {
  test("claims enabled endpoints without a live owner, up to the given number", function* () {
    const leases = yield* DeliveryLeases
    const seeded = yield* Effect.forEach([1, 2, 3], () => seedLog(0))
    const [one, other] = [yield* newWorker, yield* newWorker]
    yield* leases.heartbeat(one.token, 10)
    yield* leases.heartbeat(other.token, 10)
    expect(yield* leases.acquire(one.token, 2)).toEqual({ taken: 2, takenOver: 0 })
    expect(yield* leases.acquire(other.token, 10)).toEqual({ taken: 1, takenOver: 0 })
    expect(yield* leases.acquire(other.token, 10)).toEqual({ taken: 0, takenOver: 0 })
    // A stopping worker still owns its calls.
    yield* leases.stop(one.token)
    expect(yield* leases.acquire(other.token, 10)).toEqual({ taken: 0, takenOver: 0 })
    yield* die(one.token)
    expect(yield* leases.acquire(other.token, 10)).toEqual({ taken: 2, takenOver: 2 })
    const owned = yield* leases.listOwned(other.token)
    expect(owned.map(({ endpointId }) => endpointId).sort()).toEqual(seeded.map(({ endpoint }) => endpoint.id).sort())
    expect(yield* leases.listOwned(one.token)).toEqual([])
  })

  test("assigns each endpoint to one worker, even if many claim at the same time", function* () {
    const leases = yield* DeliveryLeases
    yield* Effect.forEach(Array.from({ length: 12 }), () => seedLog(0))
    const workers = yield* Effect.forEach(Array.from({ length: 6 }), () => newWorker)
    yield* Effect.forEach(workers, ({ token }) => leases.heartbeat(token, 10))
    yield* Effect.forEach(workers, ({ token }) => Effect.repeat(leases.acquire(token, 1), { times: 5 }), {
      concurrency: 6,
    })
    const owned = yield* Effect.forEach(workers, ({ token }) => leases.listOwned(token))
    const ids = owned.flat().map(({ endpointId }) => endpointId)
    expect(ids).toHaveLength(12)
    expect(new Set(ids).size).toBe(12)
  })

  test("resends possible calls of a lost worker once, with the same id and attempt, and continues reading after them", function* () {
    const { leases, endpoint, eventIds } = yield* seedLog(5)
    const [lost, heir] = [yield* newWorker, yield* newWorker]
    const [first, second, third] = yield* lost.take(3)
    yield* lost.settle([second!])
    yield* die(lost.token)
    yield* heir.take(0)
    const ids = [first!, third!].map(({ id }) => id)
    expect(yield* leases.recoverLost(heir.token)).toEqual(
      expect.arrayContaining(ids.map((deliveryId) => ({ deliveryId, endpointId: endpoint.id, poison: false }))),
    )
    expect(yield* leases.recoverLost(heir.token)).toEqual([])
    const taken = yield* heir.take()
    expect(taken.filter(({ isRow }) => !isRow).map(({ eventId }) => eventId)).toEqual(eventIds.slice(3))
    const again = taken.filter(({ isRow }) => isRow)
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual(ids.map((id) => [id, 1]))
    expect((yield* find(first!.id)).attempts).toMatchObject([
      { number: 1, outcome: "outcome_unknown", latencyMs: null, status: null },
    ])
    for (const delivery of again) expect(yield* heir.settle([delivery])).toBe(true)
    expect(yield* find(first!.id)).toMatchObject({
      delivery: { state: "delivered", attempts: 1 },
      attempts: [{ outcome: "outcome_unknown" }, { number: 1, outcome: "success" }],
    })
    expect((yield* find(second!.id)).attempts).toHaveLength(1)
  })
})

describe("DeliveryLeasesPg.read", () => {
  test("reads in log order, with all data for a call, and again open events that the worker doesn't have, because a reply was lost", function* () {
    const { leases, organization, endpoint, eventIds } = yield* seedLog(4)
    const { token, take, settle } = yield* newWorker
    yield* take(0)
    const read = (events: ReadonlyArray<EventId>) => leases.read(token, [{ endpointId: endpoint.id, limit: 3, events }])
    const deliveries = yield* read([])
    expect(eventsOf(deliveries)).toEqual(eventIds.slice(0, 3))
    expect(deliveries[0]).toMatchObject({
      ...{ organizationId: organization.id, endpointId: endpoint.id, version: endpoint.version, attempt: 1 },
      ...{ id: deliveryId(eventIds[0]!, endpoint.id), isRow: false, losses: 0, isReplay: false },
    })
    expect(JSON.parse(deliveries[0]!.body)).toMatchObject({ event_id: eventIds[0], event_type: "outreach.email_sent" })
    const [first, second, third, fourth] = eventIds
    expect(eventsOf(yield* read([second!])).toSorted()).toEqual([first, third, fourth].toSorted())
    expect(yield* read(eventIds)).toEqual([])
    yield* settle([deliveries[0]!])
    expect(eventsOf(yield* read([second!, fourth!]))).toEqual([third])
  })

  for (const end of ["given up by", "taken from"] as const) {
    test(`keeps one row per event if a change of types preserved it while it was read, when it is ${end} its worker`, function* () {
      const { leases, endpoint, eventIds } = yield* seedLog(2)
      const { token, take } = yield* newWorker
      yield* take(0)
      const reading = yield* whileOpen(updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_sent"] }), () =>
        Effect.forkChild(leases.read(token, [{ endpointId: endpoint.id, limit: 2 }])).pipe(Effect.tap(untilBlocked())),
      )
      yield* Fiber.join(reading)
      if (end === "taken from") yield* die(token)
      else {
        yield* leases.handOver(token, [{ endpointId: endpoint.id, calling: [], unsent: [] }])
        yield* leases.leave(token)
      }
      const taken = yield* (yield* newWorker).take()
      expect(eventsOf(taken).toSorted()).toEqual(eventIds.toSorted())
    })
  }

  test("reads the types that an endpoint receives, and doesn't advance a disabled one", function* () {
    const repository = yield* EndpointRepository
    const { leases, organization, endpoint, campaign } = yield* seedLog(0)
    const about = { organizationId: organization.id, url: "https://some.test/" }
    const { endpoint: some } = yield* createEndpoint({
      ...about,
      eventTypes: ["outreach.email_bounced", "outreach.email_sent"],
    })
    yield* createEndpoint({ ...about, eventTypes: ["outreach.email_bounced"] })
    const eventIds = yield* publishSent(campaign, 3)
    const { token, take } = yield* newWorker
    yield* take(0)
    yield* repository.disable(endpoint.id)
    const read = Effect.flatMap(leases.listOwned(token), (owned) =>
      leases.read(
        token,
        owned.map(({ endpointId }) => ({ endpointId, limit: 10 })),
      ),
    )
    expect((yield* read).map((delivery) => [delivery.endpointId, delivery.eventId])).toEqual(
      eventIds.map((eventId) => [some.id, eventId]),
    )
    yield* repository.enable(endpoint.id)
    expect(yield* read).toHaveLength(6)
  })

  test("doesn't read for a worker that lost the endpoint, and discards its outcomes", function* () {
    const { leases, endpoint, eventIds } = yield* seedLog(3)
    const [lost, heir] = [yield* newWorker, yield* newWorker]
    const [delivery] = yield* lost.take(1)
    yield* die(lost.token)
    const [again] = (yield* heir.take(1)).filter(({ isRow }) => isRow)
    expect(again).toBeUndefined()
    yield* leases.recoverLost(heir.token)
    expect(yield* leases.read(lost.token, [{ endpointId: endpoint.id, limit: 1 }])).toEqual([])
    for (const settlement of ["delivered", "rejected"] as const)
      expect(yield* lost.settle([delivery!], { settlement })).toBe(false)
    expect(yield* lost.settle([delivery!], RETRY)).toBe(false)
    expect(yield* find(delivery!.id)).toMatchObject({
      delivery: { state: "pending", attempts: 0 },
      attempts: [{ outcome: "outcome_unknown" }],
    })
    const [row] = (yield* heir.take(1)).filter(({ isRow }) => isRow)
    expect(row!.id).toBe(delivery!.id)
    expect(yield* heir.settle([row!])).toBe(true)
    expect(yield* heir.settle([row!])).toBe(false)
    const { rows: listed } = yield* (yield* DeliveryReader).list({ endpointId: endpoint.id }, 10)
    expect(listed.map(({ eventId }) => eventId).sort()).toEqual([...eventIds].sort())
  })
})

test("DeliveryLeasesPg.secrets are all active secrets, newest first, with their expiry, and none for an endpoint with an undecryptable secret", function* () {
  const { secrets } = yield* DeliveryLeases
  const { organization, endpoint, secret } = yield* seedLog(0)
  const next = yield* rotateSecret(organization.id, 3600)
  const unreadable = yield* seedLog(0)
  yield* rotateSecret(unreadable.organization.id, 3600)
  yield* sql`
    update signing_secrets set ciphertext = decode(repeat('00', 60), 'hex')
    where organization_id = ${unreadable.organization.id} and expires_at is not null`
  const found = yield* secrets([endpoint, unreadable.endpoint].map(versionOf))
  expect([...found.keys()]).toEqual([endpoint.id])
  const ofReadable = found.get(endpoint.id)!
  expect(ofReadable.headers).toBeNull()
  expect(ofReadable.signing.map((each) => Redacted.value(each.secret))).toEqual([next, secret].map(Redacted.value))
  expect(ofReadable.signing[0]!.endsInMs).toBeNull()
  expect(ofReadable.signing[1]!.endsInMs).toBeGreaterThan(0)
  expect(ofReadable.signing[1]!.endsInMs).toBeLessThanOrEqual(3_600_000)
  const last = yield* rotateSecret(organization.id, 0)
  const left = (yield* secrets([versionOf(endpoint)])).get(endpoint.id)!
  expect(left.signing.map((each) => Redacted.value(each.secret))).toEqual([Redacted.value(last)])
})

test("DeliveryLeasesPg.secrets include the headers of endpoints, and are none if these can't be decrypted or are newer", function* () {
  const { secrets } = yield* DeliveryLeases
  const { endpoint } = yield* seedLog(0)
  const headers = Redacted.make({ "X-Api-Key": "t0psecret" })
  const updated = versionOf(yield* EndpointRepository.use(({ update }) => update(endpoint.id, { headers })))
  expect(yield* secrets([versionOf(endpoint)])).toEqual(new Map())
  const found = (yield* secrets([updated])).get(endpoint.id)
  expect(Redacted.value(found!.headers!)).toEqual({ "X-Api-Key": "t0psecret" })
  yield* sql`update endpoint_headers set ciphertext = decode(repeat('00', 60), 'hex') where endpoint_id = ${endpoint.id}`
  expect(yield* secrets([updated])).toEqual(new Map())
})

const versionOf = ({ id: endpointId, version }: Pick<Endpoint, "id" | "version">) => ({ endpointId, version })

describe("DeliveryLeasesPg.takeDue", () => {
  /** Creates queued rows for events, in order of their due time. */
  const seedRows = Effect.fnUntraced(function* (count: number) {
    const seeded = yield* seedLog(count)
    const worker = yield* newWorker
    for (const delivery of yield* worker.take()) yield* worker.settle([delivery], RETRY, 503)
    return { ...seeded, ...worker, sql }
  })

  test("claims recovered deliveries first, then by due time, then replays, but only due ones", function* () {
    const { sql, take, eventIds } = yield* seedRows(6)
    const [replay, later, retry, lost] = eventIds
    yield* sql`update deliveries set replay = true, due_at = due_at - interval '1 hour' where event_id = ${replay!}`
    yield* sql`update deliveries set due_at = due_at + interval '1 hour' where event_id = ${later!}`
    yield* sql`update deliveries set due_at = due_at - interval '1 minute' where event_id = ${eventIds[4]!}`
    yield* sql`update deliveries set losses = 1 where event_id = ${lost!}`
    expect(eventsOf(yield* take())).toEqual([lost, eventIds[4], retry, eventIds[5], replay])
    expect(yield* take()).toEqual([])
  })

  test("claims repeatedly lost deliveries one at a time", function* () {
    const { sql, take, settle, eventIds } = yield* seedRows(4)
    yield* sql`update deliveries set losses = ${EXCLUSIVE_FROM_LOSSES}::int where event_id in (${eventIds[2]!}, ${eventIds[3]!})`
    yield* sql`update deliveries set losses = 1 where event_id = ${eventIds[0]!}`
    const [alone, ...others] = yield* take()
    expect([alone!.eventId, others]).toEqual([eventIds[2], []])
    expect(alone).toMatchObject({ losses: EXCLUSIVE_FROM_LOSSES, attempt: 2, isRow: true })
    yield* settle([alone!])
    expect(eventsOf(yield* take())).toEqual([eventIds[3]])
    expect(eventsOf(yield* take())).toEqual([eventIds[0], eventIds[1]])
  })

  test("assigns a row once, and only to its endpoint's owner", function* () {
    const { leases, sql, token, endpoint, take } = yield* seedRows(2)
    const [{ token: other }, wanted] = [yield* newWorker, [{ endpointId: endpoint.id, limit: 10 }]]
    yield* leases.heartbeat(other, 10)
    expect(yield* leases.takeDue(other, wanted)).toEqual([])
    yield* sql`update deliveries set due_at = clock_timestamp() + interval '1 hour'`
    expect(yield* leases.takeDue(token, wanted)).toEqual([])
    for (const endpoints of [undefined, [endpoint.id]]) expect(yield* leases.nextDue(other, endpoints)).toEqual([])
    expect(yield* leases.nextDue(token, [])).toEqual([])
    yield* sql`update deliveries set due_at = clock_timestamp()`
    const takes = yield* Effect.all([take(), take(), take()], { concurrency: 3 })
    expect(takes.flat()).toHaveLength(2)
  })

  test("can leave replays for later", function* () {
    const { leases, sql, token, endpoint, eventIds } = yield* seedRows(2)
    yield* sql`update deliveries set replay = true where event_id = ${eventIds[0]!}`
    const wanted = { endpointId: endpoint.id, limit: 10 }
    expect(eventsOf(yield* leases.takeDue(token, [{ ...wanted, takesReplays: false }]))).toEqual([eventIds[1]])
    expect(eventsOf(yield* leases.takeDue(token, [wanted]))).toEqual([eventIds[0]])
  })

  test("returns for each of its endpoints when the first row and the first replay are due", function* () {
    const leases = yield* DeliveryLeases
    const { token } = yield* newWorker
    const endpoints: Array<EndpointId> = []
    // Minutes until an event and a replay of each endpoint are due.
    for (const minutes of [[5, 3], [2, 7], [], [undefined, 4], [9]]) {
      const { endpoint, eventIds } = yield* seedRows(2)
      for (const [i, eventId] of eventIds.entries()) {
        yield* minutes[i] === undefined
          ? sql`delete from deliveries where event_id = ${eventId}`
          : sql`update deliveries set replay = ${i === 1}, due_at = clock_timestamp() + make_interval(mins => ${minutes[i]}::int)
              where event_id = ${eventId}`
      }
      endpoints.push(endpoint.id)
    }
    yield* sql`update endpoint_readers set owner = ${token}::uuid where endpoint_id = any (${endpoints})`
    for (const asked of [undefined, endpoints]) {
      const next = yield* leases.nextDue(token, asked)
      const minutes = endpoints.map((id) =>
        [false, true].map((isReplay) => {
          const found = next.find((each) => each.endpointId === id && each.isReplay === isReplay)
          return found && Math.ceil(found.inMs / 60_000)
        }),
      )
      expect(minutes).toEqual([
        [5, 3],
        [2, 7],
        [undefined, undefined],
        [undefined, 4],
        [9, undefined],
      ])
    }
  })
})

describe("DeliveryLeasesPg.write", () => {
  /** The outcome of a call to which the endpoint responded with a status. */
  const resultOf = (delivery: Delivery, settlement: Settlement, status: number): Outcome => {
    const { attempt: number, version } = delivery
    const startedAt = Timestamp.make("2026-11-21T00:00:00.000001Z")
    const outcome = status === 200 ? "success" : "client_error"
    const attempt = { number, startedAt, latencyMs: 1, status, outcome, response: "" }
    return { delivery, version, attempt, ...settlement }
  }
  const writeOf = (token: string, endpointId: EndpointId, outcomes: ReadonlyArray<Outcome>) =>
    DeliveryLeases.use(({ write }) => write(token, [{ endpointId, outcomes }]))
  const NOTHING = { refused: new Set(), again: new Set(), disabled: new Set() }

  for (const isRow of [false, true]) {
    const what = isRow ? "a row" : "an event of the log"
    const settlement = isRow ? "exhausted" : "rejected"
    test(`makes ${what} due immediately if it was ${settlement} with the endpoint's previous settings`, function* () {
      const { endpoint, organization } = yield* seedLog(1)
      const { take, settle, token } = yield* newWorker
      if (isRow) yield* settle(yield* take(), RETRY, 503)
      const [delivery] = yield* take()
      expect(delivery!.isRow).toBe(isRow)
      yield* rotateSecret(organization.id, 0)
      const rejected = resultOf(delivery!, { settlement }, 401)
      const again = new Set([delivery!.id])
      expect(yield* writeOf(token, endpoint.id, [rejected])).toEqual({ ...NOTHING, again })
      const [next] = yield* take()
      expect(next).toMatchObject({ id: delivery!.id, attempt: delivery!.attempt + 1 })
      expect(next!.version).toBeGreaterThan(endpoint.version)
      const last = resultOf(next!, { settlement }, 401)
      expect(yield* writeOf(token, endpoint.id, [last])).toEqual(NOTHING)
      const { delivery: found, attempts } = yield* find(delivery!.id)
      expect(found.state).toBe(settlement)
      expect(attempts.slice(-2).map(({ status }) => status)).toEqual([401, 401])
    })

    test(`makes ${what} due with the same attempt number if its call was not made`, function* () {
      const { endpoint } = yield* seedLog(1)
      const { take, settle, token } = yield* newWorker
      if (isRow) yield* settle(yield* take(), RETRY, 503)
      const [delivery] = yield* take()
      const outcome = { delivery: delivery!, version: delivery!.version, attempt: null, ...RETRY }
      const { refused } = yield* writeOf(token, endpoint.id, [outcome])
      expect([...refused]).toEqual([])
      expect(yield* take()).toMatchObject([{ id: delivery!.id, isRow: true, attempt: delivery!.attempt }])
      expect((yield* find(delivery!.id)).attempts).toHaveLength(isRow ? 1 : 0)
      const counted = sql`select from delivery_outcomes where endpoint_id = ${endpoint.id}`
      expect(yield* counted).toHaveLength(isRow ? 1 : 0)
    })
  }

  test("disables an endpoint if a handed-over call returns 410", function* () {
    const { leases, endpoint } = yield* seedLog(1)
    const endpointId = endpoint.id
    const first = yield* newWorker
    const [called] = yield* first.take()
    yield* leases.handOver(first.token, [{ endpointId, calling: [called!.eventId], unsent: [] }])
    const heir = yield* newWorker
    yield* heir.take(0)
    const gone = resultOf({ ...called!, isRow: true }, { settlement: "gone" }, 410)
    expect(yield* writeOf(first.token, endpointId, [gone])).toEqual({
      ...NOTHING,
      ...{ again: new Set([called!.id]), disabled: new Set([endpointId]) },
    })
    const { find: findEndpoint } = yield* EndpointRepository
    expect(yield* findEndpoint(endpointId)).toMatchObject({ enabled: false, waiting: 1, owner: heir.token })
    expect(yield* heir.take()).toEqual([])
  })

  test("disables an endpoint that is gone once, but not after its address has changed", function* () {
    const { find: findEndpoint, enable } = yield* EndpointRepository
    const { endpoint, organization } = yield* seedLog(2)
    const { take, token } = yield* newWorker
    const deliveries = yield* take()
    const gone = deliveries.map((delivery) => resultOf(delivery, { settlement: "gone" }, 410))
    const again = new Set(deliveries.map(({ id }) => id))
    const write = writeOf(token, endpoint.id, gone)
    expect(yield* write).toEqual({ ...NOTHING, again, disabled: new Set([endpoint.id]) })
    expect(yield* findEndpoint(endpoint.id)).toMatchObject({ enabled: false, disabledReason: "gone", waiting: 2 })
    expect(yield* take()).toEqual([])
    yield* enable(endpoint.id)
    // A repeated write, as after a lost response.
    expect(yield* write).toEqual({ ...NOTHING, again })
    expect(yield* findEndpoint(endpoint.id)).toMatchObject({ enabled: true, disabledReason: null, waiting: 2 })
    const audited = sql`
      select arguments, operator, os_user as "osUser", result from audit_log join audit_results on command_id = id
      where ${organization.id} = any (organizations)`
    const given = { endpoint: endpoint.id, reason: "gone" }
    expect(yield* audited).toEqual([{ arguments: given, operator: null, osUser: "the service", result: "succeeded" }])
    expect((yield* take()).map(({ attempt }) => attempt)).toEqual([2, 2])
  })

  test("doesn't overwrite a breaker that an operator reset meanwhile", function* () {
    const { leases, endpoint } = yield* seedLog(0)
    const { take, token } = yield* newWorker
    yield* take(0)
    const unchanged = { endpointId: endpoint.id, outcomes: [] }
    const open = (version: number) =>
      leases.write(token, [{ ...unchanged, breaker: { version, failures: 5, allowance: 1, probeInMs: 60_000 } }])
    const { enable, find: status } = yield* EndpointRepository
    yield* open(endpoint.version)
    const { version } = yield* enable(endpoint.id)
    yield* open(endpoint.version)
    expect(yield* status(endpoint.id)).toMatchObject({ breaker: "closed", failures: 0 })
    yield* open(version)
    expect(yield* status(endpoint.id)).toMatchObject({ breaker: "open", failures: 5 })
  })

  test("stores many successful deliveries in one row, a retry with its delay, and a dead letter with its attempts", function* () {
    yield* seedLog(5)
    const { take, settle } = yield* newWorker
    const deliveries = yield* take()
    yield* settle(deliveries.slice(0, 3))
    const stored = deliveries.slice(0, 3).map(({ id }) => id)
    const [first_id, , id] = stored.sort()
    const rows = sql`select first_id, id, json_array_length(deliveries) as count from delivered`
    expect(yield* rows).toEqual([{ first_id, id, count: 3 }])
    yield* settle([deliveries[3]!], { settlement: "rejected" }, 410)
    yield* settle([deliveries[4]!], { settlement: "retry", delay: 30 }, 503)
    const { delivery } = yield* find(deliveries[4]!.id)
    const wait = yield* value<number>`
      select extract(epoch from ${delivery.dueAt}::timestamptz - clock_timestamp())::double precision as seconds`
    expect(wait).toBeGreaterThan(20)
    expect(wait).toBeLessThanOrEqual(30)
    yield* sql`update deliveries set due_at = clock_timestamp()`
    const [second] = yield* take()
    expect(second).toMatchObject({ id: deliveries[4]!.id, attempt: 2, isRow: true })
    yield* settle([second!], { settlement: "exhausted" }, 503)
    expect(yield* find(second!.id)).toMatchObject({
      delivery: { state: "exhausted", attempts: 2 },
      attempts: [{ number: 1 }, { number: 2 }],
    })
    expect(yield* find(deliveries[3]!.id)).toMatchObject({ delivery: { state: "rejected", attempts: 1 } })
    expect(yield* sql`select from deliveries union all select from delivery_attempts`).toEqual([])
  })

  test("writes no outcome of an event that isn't open after a crash of the database, and reads it again", function* () {
    const { endpoint } = yield* seedLog(3)
    const { take, settle } = yield* newWorker
    const [before] =
      yield* sql`select begun_at::text, begun_id from reader_positions where endpoint_id = ${endpoint.id}`
    const deliveries = yield* take()
    yield* sql`
      update reader_positions set begun_at = ${before!["begun_at"] as string}::timestamptz, begun_id = ${before!["begun_id"] as string}, open = '{}'
      where endpoint_id = ${endpoint.id}`
    yield* settle([deliveries[0]!])
    yield* settle([deliveries[1]!], { settlement: "retry", delay: 0 }, 503)
    yield* settle([deliveries[2]!], { settlement: "rejected" }, 410)
    const written = sql`
      select endpoint_id from deliveries union all select endpoint_id from dead_letters union all select endpoint_id from delivered
      union all select endpoint_id from delivery_outcomes`
    expect((yield* written).filter((row) => row["endpoint_id"] === endpoint.id)).toEqual([])
    const again = yield* take()
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual(deliveries.map(({ id }) => [id, 1]))
  })

  for (const rejected of [0, 1]) {
    test(`counts and stores a repeated write after a lost response once, with ${rejected} dead letters`, function* () {
      const { endpoint } = yield* seedLog(3 + rejected)
      const { take, token } = yield* newWorker
      const outcomes = (yield* take()).map((delivery, i) =>
        i < 3
          ? resultOf(delivery, { settlement: "delivered" }, 200)
          : resultOf(delivery, { settlement: "rejected" }, 401),
      )
      const write = writeOf(token, endpoint.id, outcomes)
      expect(yield* write).toEqual(yield* write)
      expect(
        yield* sql`
          select delivered, client_errors as rejected, dead_letters as dead,
            (select coalesce(sum(n), 0)::int from unnest(latencies) n) as calls,
            (select sum(json_array_length(deliveries))::int from delivered) as kept
          from delivery_outcomes where endpoint_id = ${endpoint.id}`,
      ).toEqual([{ delivered: 3, rejected, dead: rejected, calls: 3 + rejected, kept: 3 }])
    })
  }

  test("finds an endpoint's position with few reads, even if an open transaction keeps many versions", function* () {
    yield* keepStatistics("reader_positions")
    const { endpoint, eventIds } = yield* seedLog(64)
    const { take, settle } = yield* newWorker
    yield* whileOpen(sql`select pg_current_xact_id()::text`, () =>
      Effect.gen(function* () {
        const deliveries = yield* take()
        for (let i = 1; i < 240; i++)
          yield* sql`select update_positions(array[${endpoint.id}], array[''], array[''], array[''], array[''])`
        expect(yield* settle(deliveries.slice(2))).toBe(true)
        const plans = yield* sql<{ "QUERY PLAN": readonly [{ Plan: Record<string, number> }] }>`
          explain (analyze, buffers, format json) select * from reader_position(${sql.literal(`'${endpoint.id}'`)})`
        const { Plan } = plans[0]!["QUERY PLAN"][0]
        // 240 versions of 2 KB fill at least 60 pages.
        expect(Plan["Shared Hit Blocks"]! + Plan["Shared Read Blocks"]!).toBeLessThan(40)
      }),
    )
    const left = value`select open from reader_positions where endpoint_id = ${endpoint.id}`
    expect(yield* left).toEqual(eventIds.slice(0, 2))
  })

  test("accepts outcomes of an expired worker if its endpoint wasn't claimed", function* () {
    yield* seedLog(1)
    const { take, settle, token } = yield* newWorker
    const [late] = yield* take()
    yield* die(token)
    expect(yield* settle([late!])).toBe(true)
  })
})

describe("DeliveryLeasesPg.handOver", () => {
  test("leaves calls in flight to the giver, and all other deliveries to the new owner", function* () {
    const { leases, endpoint, eventIds } = yield* seedLog(5)
    const [giver, heir] = [yield* newWorker, yield* newWorker]
    const [, , , retried] = yield* giver.take(4)
    yield* giver.settle([retried!], RETRY, 503)
    const [row] = yield* leases.takeDue(giver.token, [{ endpointId: endpoint.id, limit: 1 }])
    const calling = eventIds.slice(0, 1)
    yield* leases.handOver(giver.token, [{ endpointId: endpoint.id, calling, unsent: [row!.id] }])
    expect(yield* leases.listOwned(giver.token)).toEqual([])

    const taken = yield* heir.take()
    expect(eventsOf(taken).sort()).toEqual(eventIds.slice(1).sort())
    expect(yield* leases.listOwned(heir.token)).toMatchObject([{ endpointId: endpoint.id, inFlightElsewhere: 1 }])
    expect(yield* leases.recoverLost(heir.token)).toEqual([])
    // The outcome of the giver's call is written, because the giver still owns it.
    const called = { eventId: eventIds[0]!, id: deliveryId(eventIds[0]!, endpoint.id) }
    const inFlight = { ...taken[0]!, ...called, isRow: true, attempt: 1 }
    expect(yield* giver.settle([inFlight])).toBe(true)
    expect(yield* find(inFlight.id)).toMatchObject({
      delivery: { state: "delivered" },
      attempts: [{ outcome: "success" }],
    })
    expect(yield* leases.listOwned(heir.token)).toMatchObject([{ inFlightElsewhere: 0 }])
  })

  test("counts the giver's calls until the endpoint's address changes, also after it is re-enabled, and earlier calls to the new address", function* () {
    const { disable, enable, update } = yield* EndpointRepository
    const { leases, endpoint, campaign } = yield* seedLog(0)
    const heir = yield* newWorker
    const elsewhere = Effect.map(leases.listOwned(heir.token), ([owned]) => owned!.inFlightElsewhere)
    const handOverACall = Effect.fnUntraced(function* (
      beforeIt: Effect.Effect<unknown, unknown, EndpointRepository> = Effect.void,
    ) {
      const giver = yield* newWorker
      const [eventId] = yield* publishSent(campaign, 1)
      yield* giver.take()
      yield* beforeIt
      yield* leases.handOver(giver.token, [{ endpointId: endpoint.id, calling: [eventId!], unsent: [] }])
      yield* heir.take(0)
      expect(yield* elsewhere).toBe(1)
    })
    const move = (path: string) => update(endpoint.id, { url: EndpointUrl.make(`https://partner.test/${path}`) })
    yield* handOverACall()
    yield* update(endpoint.id, { maxInFlight: 3 })
    expect(yield* elsewhere).toBe(1)
    yield* move("new")
    expect(yield* elsewhere).toBe(0)
    yield* leases.handOver(heir.token, [{ endpointId: endpoint.id, calling: [], unsent: [] }])
    yield* handOverACall(move("newer"))
    yield* disable(endpoint.id)
    yield* enable(endpoint.id)
    expect(yield* elsewhere).toBe(1)
  })
})

describe("DeliveryLeasesPg.recover", () => {
  /** Creates a worker that claims a delivery after the previous worker was lost. */
  const loseAll = Effect.fnUntraced(function* (endpointId: EndpointId) {
    const leases = yield* DeliveryLeases
    const worker = yield* newWorker
    yield* worker.take(0)
    const recovered = yield* leases.recoverLost(worker.token)
    const taken = yield* leases.takeDue(worker.token, [{ endpointId, limit: 10 }])
    return { ...worker, recovered, taken }
  })

  test("quarantines a delivery after repeated losses of its workers", function* () {
    const { endpoint } = yield* seedLog(1)
    const first = yield* newWorker
    const [delivery] = yield* first.take()
    let token = first.token
    for (let losses = 1; losses < MAX_LOSSES; losses++) {
      yield* die(token)
      const heir = yield* loseAll(endpoint.id)
      expect(heir.recovered).toMatchObject([{ deliveryId: delivery!.id, poison: false }])
      expect(heir.taken).toMatchObject([{ id: delivery!.id, attempt: 1, losses }])
      token = heir.token
    }
    yield* die(token)
    const last = yield* loseAll(endpoint.id)
    expect(last.recovered).toEqual([{ deliveryId: delivery!.id, endpointId: endpoint.id, poison: true }])
    expect(last.taken).toEqual([])
    const { delivery: dead, attempts } = yield* find(delivery!.id)
    expect(dead).toMatchObject({ state: "poison", attempts: 0 })
    expect(attempts.map(({ number, outcome }) => [number, outcome])).toEqual(
      Array.from({ length: MAX_LOSSES }, () => [1, "outcome_unknown"]),
    )
    expect(
      yield* sql`select status, outcome, first_line, failures, poison, open, stored from failure_groups where endpoint_id = ${endpoint.id}`,
    ).toEqual([
      { status: null, outcome: "outcome_unknown", first_line: null, failures: 1n, poison: 1, open: 1, stored: 1 },
    ])
    expect(
      yield* sql`select sum(dead_letters)::int as dead from delivery_outcomes where endpoint_id = ${endpoint.id}`,
    ).toEqual([{ dead: 1 }])
  })

  test("only counts consecutive losses, and doesn't claim from a live worker", function* () {
    const { leases, endpoint } = yield* seedLog(1)
    const first = yield* newWorker
    let worker = { ...first, taken: (yield* first.take()) as ReadonlyArray<Delivery> }
    for (let round = 1; round <= 2 * MAX_LOSSES; round++) {
      if (round % 3 === 0) yield* worker.settle(worker.taken, RETRY, 503)
      yield* die(worker.token)
      const heir = yield* loseAll(endpoint.id)
      expect(heir.recovered).toHaveLength(round % 3 === 0 ? 0 : 1)
      expect(heir.taken.map(({ losses }) => losses)).toEqual([round % 3])
      expect(yield* leases.recoverLost(heir.token)).toEqual([])
      worker = heir
    }
  })
})

test("deliveryId equals delivery_id in the database, a UUIDv7 with the event's time", function* () {
  for (let i = 0; i < 5; i++) {
    const [event, endpoint] = [yield* createIdentifier("event"), yield* createIdentifier("endpoint")]
    const id = deliveryId(event, endpoint)
    expect(yield* sql`select delivery_id(${event}, ${endpoint}) as id`).toEqual([{ id }])
    expect(id).toMatch(new RegExp(`^dlv_${event.slice(4, 16)}7[0-9a-f]{3}b[0-9a-f]{15}$`))
  }
})
