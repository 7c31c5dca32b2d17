import { DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { retryDeliveries } from "@outreach/backoffice/operations/deliveries"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { type DeadLetterFilter, DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import { EndpointRepository, retryWaiting, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import {
  createDeadLetterReplay,
  createLogReplay,
  type LogRange,
  ReplayJobQueue,
} from "@outreach/domain/deliveries/Replays"
import {
  createIdentifier,
  type DeliveryId,
  type EndpointId,
  type EventId,
  type FailureGroupId,
  type ReplayId,
} from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { PROPERTY_RUNS } from "@outreach/testing/propertyRuns"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent } from "@outreach/testing/seedCampaign"
import { insertDeadLetters, seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { seedWaiting } from "@outreach/testing/seedWaiting"
import { column, inTransaction, sql, value } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Result } from "effect"
import fc from "fast-check"
import { beforeEach, describe, expect } from "vitest"
import { keepStatistics } from "../keepStatistics.ts"

const { run, test } = testsOnDatabase()

/** Deletes the jobs and their deliveries, because a step can process any job. */
const reset = Effect.gen(function* () {
  for (const table of ["replay_jobs", "deliveries", "dead_letters"]) yield* sql`delete from ${sql(table)}`
})
beforeEach(() => run(reset))

const create = (filter: DeadLetterFilter, rate = 10_000) => createDeadLetterReplay(filter, rate)
const replayNextChunk = Effect.flatMap(ReplayJobQueue, (jobs) => jobs.replayNextChunk)
const skipPause = sql`
    update replay_jobs set next_at = clock_timestamp()
    where id in (select id from replay_jobs where finished_at is null for update skip locked)`
const finish = Effect.fnUntraced(function* (replayId: ReplayId) {
  const replayJobs = yield* ReplayJobQueue
  let steps = 0
  for (; (yield* replayJobs.find(replayId)).state === "running"; steps++)
    yield* Effect.andThen(skipPause, replayNextChunk)
  return { steps, replay: yield* replayJobs.find(replayId) }
})
/** Returns the number of new deliveries, and checks that each replayed dead letter has exactly one. */
const replays = Effect.gen(function* () {
  const [counts] = yield* sql<{ dead: number; queued: number; paired: number }>`
    select (select count(*)::int from dead_letters where replayed_as is not null) as dead,
      (select count(*)::int from deliveries) as queued,
      (select count(*)::int from deliveries queued join dead_letters dead on dead.replayed_as = queued.id
        and dead.endpoint_id = queued.endpoint_id and dead.event_id = queued.event_id
        where queued.replay and queued.attempts = 0 and queued.owner is null) as paired`
  return counts!
})
const all = (count: number) => ({ dead: count, queued: count, paired: count })

describe("ReplayJobQueuePg", () => {
  test("replays every dead letter once, chunk by chunk, oldest first, each as a new delivery", function* () {
    yield* seedDeadLetters(25)
    const { id, ...made } = yield* create({}, 100)
    expect(made).toMatchObject({ state: "running", total: 25, replayed: 0, rate: 100, finishedAt: null })
    expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed: 10, state: "running" } })
    const inOrder = value`
      select max(finished_at) filter (where replayed_as is not null) < min(finished_at) filter (where replayed_as is null)
      from dead_letters`
    expect(yield* inOrder).toBe(true)
    const { replay } = yield* finish(id)
    expect(replay).toMatchObject({ state: "finished", replayed: 25, finishedAt: expect.any(String) })
    expect(yield* replays).toEqual(all(25))
  })

  test("replays only dead letters that match all conditions, even if they are few", function* () {
    yield* seedDeadLetters(60, { reason: "rejected" })
    const { endpoint } = yield* seedDeadLetters(3, { reason: "poison" })
    yield* seedDeadLetters(2, { reason: "poison" })
    const endpointId = endpoint.id
    const [last, second, first] = yield* (yield* DeadLetterReader).list({ endpointId }, 10)
    const count = Effect.fnUntraced(function* (filter: DeadLetterFilter) {
      const { id, total } = yield* create(filter, 100)
      const { replay } = yield* finish(id)
      return [total, replay.replayed]
    })
    expect(yield* count({ endpointId, reason: "rejected" })).toEqual([0, 0])
    expect(yield* count({ endpointId, type: "outreach.email_bounced" })).toEqual([0, 0])
    // `from` is inclusive, `to` exclusive.
    expect(yield* count({ endpointId, from: first!.finishedAt!, to: second!.finishedAt! })).toEqual([1, 1])
    expect(yield* count({ endpointId, from: last!.finishedAt! })).toEqual([1, 1])
    expect(yield* count({ reason: "poison", type: "outreach.email_sent" })).toEqual([3, 3])
    expect(yield* replays).toEqual(all(5))
  })

  test("replays dead letters up to its creation, and not later ones", function* () {
    yield* seedDeadLetters(5)
    const { id } = yield* create({})
    const later = yield* seedDeadLetters(5)
    expect((yield* finish(id)).replay).toMatchObject({ total: 5, replayed: 5 })
    const left = yield* (yield* DeadLetterReader).list({}, 100)
    expect(left.map(({ endpointId }) => endpointId)).toEqual(Array(5).fill(later.endpoint.id))
  })

  test("keeps its rate by the database's clock, and catches up at most one late chunk", function* () {
    yield* seedDeadLetters(30)
    const { id } = yield* create({}, 100)
    // No worker ran for ten minutes.
    yield* sql`update replay_jobs set next_at = next_at - interval '10 minutes'`
    const now = value<number>`select extract(epoch from clock_timestamp())::double precision as seconds`
    const next = value<number>`
      select extract(epoch from next_at)::double precision as seconds from replay_jobs where id = ${id}`
    const begun = yield* now
    expect(yield* replayNextChunk).toMatchObject({ replay: { replayed: 10 } })
    const first = yield* next
    expect(first).toBeGreaterThanOrEqual(begun)
    expect(yield* replayNextChunk).toMatchObject({ replay: { replayed: 20 } })
    const second = yield* next
    expect(second - first).toBeGreaterThan(0.0999)
    expect(second - 0.1).toBeLessThanOrEqual(yield* now)
    yield* sql`update replay_jobs set next_at = clock_timestamp() + interval '1 hour'`
    const { nextInMs } = (yield* replayNextChunk) as { readonly nextInMs: number }
    expect(nextInMs).toBeGreaterThan(0)
    expect(nextInMs).toBeLessThanOrEqual(3_600_000)
  })

  test("replays each dead letter once, with concurrent workers and an operator", function* () {
    yield* seedDeadLetters(200)
    const { id } = yield* create({}, 700)
    const repository = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const [newest] = yield* repository.list({}, 1)
    const work = Effect.gen(function* () {
      while ("replay" in (yield* Effect.andThen(skipPause, replayNextChunk))) yield* Effect.yieldNow
    })
    const workers = Array.from({ length: 6 }, () => work)
    const [byOperator] = yield* Effect.all([repository.replay(newest!.id), ...workers], { concurrency: "unbounded" })
    expect((yield* finish(id)).replay).toMatchObject({ state: "finished", replayed: byOperator ? 199 : 200 })
    expect(yield* replays).toEqual(all(200))
  })

  test("is only rejected while an active job is still going to replay some of the same dead letters", function* () {
    const repository = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const seeded = [yield* seedDeadLetters(4), yield* seedDeadLetters(4, { reason: "poison" })]
    yield* insertDeadLetters(
      seeded.flatMap(({ organization, endpoint, eventId }) =>
        // The first and the last of each endpoint.
        [10, 0].map((secondsAgo) => ({
          ...{ organizationId: organization.id, endpointId: endpoint.id, eventId, secondsAgo },
          ...{ reason: "rejected" as const, attempts: [{}] },
        })),
      ),
    )
    const rows = yield* repository.list({}, 100)
    const ids = (filter: DeadLetterFilter) =>
      Effect.map(repository.list(filter, 100), (found) => new Set(found.map(({ id }) => id)))
    const groups = yield* column<FailureGroupId>`select id from failure_groups where open > 0 order by id`
    const either = <A>(...values: ReadonlyArray<A>) =>
      // Most filters have few conditions, so that many overlap.
      fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...values) })
    const time = either(...rows.map(({ finishedAt }) => finishedAt!))
    const filter = fc
      .record({
        organizationId: either(...seeded.map(({ organization }) => organization.id)),
        endpointId: either(...seeded.map(({ endpoint }) => endpoint.id)),
        groupId: either(...groups),
        status: either(500, 503),
        type: either("outreach.email_sent", "outreach.email_bounced"),
        reason: either<DeadLetterReason>("exhausted", "poison", "rejected"),
        from: time,
        to: time,
      })
      .map((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
    // One overlapping pair and one without an overlap, independent of the sample.
    const pairs = [
      [{}, {}],
      [{ reason: "poison" }, { reason: "exhausted" }],
      ...fc.sample(fc.tuple(filter, filter), 2 * PROPERTY_RUNS),
    ] as ReadonlyArray<readonly [DeadLetterFilter, DeadLetterFilter]>
    for (const [one, other] of pairs) {
      const first = yield* create(one)
      const ofOther = yield* ids(other)
      const overlaps = [...(yield* ids(one))].some((id) => ofOther.has(id))
      const second = yield* Effect.result(create(other))
      expect({ one, other, refused: Result.isFailure(second) }).toEqual({ one, other, refused: overlaps })
      if (Result.isFailure(second)) {
        expect(second.failure).toMatchObject({ _tag: "ReplayOverlaps", replayId: first.id })
      }
      yield* sql`delete from replay_jobs`
    }
  })

  test("is created once if it is requested many times concurrently", function* () {
    yield* seedDeadLetters(30)
    const made = yield* Effect.replicateEffect(Effect.result(create({}, 100)), 8, { concurrency: "unbounded" })
    const [only, ...others] = made.filter(Result.isSuccess).map(({ success }) => success.id)
    expect(others).toEqual([])
    expect(made.filter(Result.isFailure).map(({ failure }) => failure)).toEqual(
      Array(7).fill(expect.objectContaining({ _tag: "ReplayOverlaps", replayId: only })),
    )
  })

  test("may be created again for dead letters that an earlier job has passed or left after its cancellation", function* () {
    const replayJobs = yield* ReplayJobQueue
    yield* seedDeadLetters(20)
    const [newest] = yield* (yield* DeadLetterReader).list({}, 1)
    const { id } = yield* create({}, 100)
    yield* replayNextChunk
    const early = { to: (yield* (yield* DeadLetterReader).list({}, 100)).at(-1)!.finishedAt! }
    expect(yield* create(early)).toMatchObject({ state: "finished", total: 0 })
    const late = { from: newest!.finishedAt! }
    expect(yield* Effect.flip(create(late))).toMatchObject({ replayId: id })
    yield* replayJobs.cancel(id)
    expect((yield* finish((yield* create(late)).id)).replay).toMatchObject({ total: 1, replayed: 1 })
  })

  test("skips dead letters that were replayed or removed meanwhile", function* () {
    const repository = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const { endpoint } = yield* seedDeadLetters(10)
    const [one, two] = yield* repository.list({ endpointId: endpoint.id }, 2)
    const { id } = yield* create({ endpointId: endpoint.id }, 10)
    yield* replayNextChunk
    expect(yield* repository.replay(one!.id)).toBe(true)
    expect(yield* repository.replay(one!.id)).toBe(false)
    yield* sql`delete from dead_letters where id = ${two!.id}`
    expect((yield* finish(id)).replay).toMatchObject({ total: 10, replayed: 8 })
  })

  test("stops when it is cancelled, and keeps its replays", function* () {
    const replayJobs = yield* ReplayJobQueue
    yield* seedDeadLetters(30)
    const { id } = yield* create({}, 100)
    yield* replayNextChunk
    const cancelled = yield* replayJobs.cancel(id)
    expect(cancelled).toMatchObject({ state: "cancelled", replayed: 10, cancelledAt: expect.any(String) })
    expect(yield* replayJobs.cancel(id)).toEqual(cancelled)
    expect(yield* Effect.andThen(skipPause, replayNextChunk)).toEqual({ nextInMs: null })
    expect(yield* replays).toEqual(all(10))
    // The other dead letters are left for a second job.
    const { replay } = yield* finish((yield* create({})).id)
    expect(replay).toMatchObject({ total: 20, replayed: 20 })
    expect(yield* Effect.flip(replayJobs.cancel(replay.id))).toMatchObject({ _tag: "ReplayFinished", replayed: 20 })
  })

  describe("for waiting deliveries", () => {
    const due = column<DeliveryId>`select id from deliveries where due_at <= clock_timestamp() and attempts = 1 order by due_at, id`
    const find = (endpointId: EndpointId) => EndpointRepository.use(({ find }) => find(endpointId))

    test("makes each due once, chunk by chunk in the order of their due times, and keeps its attempts", function* () {
      const { organization, endpoint, ids } = yield* seedWaiting(25)
      const other = yield* seedWaiting(1)
      expect(yield* find(endpoint.id)).toMatchObject({
        waiting: 25,
        waitingReplays: 5,
        dueLater: 25,
        oldestDueAt: null,
      })
      const { id, ...made } = yield* retryWaiting({ endpointId: endpoint.id }, 100)
      expect(made).toMatchObject({ kind: "waiting", state: "running", total: 25, endpointId: endpoint.id, from: null })
      expect(yield* (yield* ReplayReader).list({ organizationId: organization.id }, 10)).toMatchObject([{ id }])
      expect(yield* (yield* ReplayReader).running(endpoint.id, 10)).toMatchObject([{ id }])
      expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed: 10, state: "running" } })
      expect((yield* due).toSorted()).toEqual(ids.slice(0, 10).toSorted())
      expect((yield* finish(id)).replay).toMatchObject({ state: "finished", replayed: 25 })
      expect((yield* due).toSorted()).toEqual(ids.toSorted())
      expect(yield* find(endpoint.id)).toMatchObject({ waiting: 25, dueLater: 0, oldestDueAt: expect.any(String) })
      expect(yield* find(other.endpoint.id)).toMatchObject({ waiting: 1, dueLater: 1 })
      expect(yield* retryWaiting({ endpointId: endpoint.id }, 100)).toMatchObject({ state: "finished", total: 0 })
    })

    test("leaves out deliveries in flight, due ones, and those that failed since its creation", function* () {
      const { endpoint, ids, organization, eventId } = yield* seedWaiting(25)
      yield* sql`update deliveries set due_at = clock_timestamp() where id = ${ids[0]!}`
      yield* sql`update deliveries set owner = gen_random_uuid(), owned_at = clock_timestamp() where id = ${ids[1]!}`
      const { id, total } = yield* retryWaiting({ endpointId: endpoint.id }, 100)
      expect(total).toBe(23)
      yield* replayNextChunk
      // The first ones fail again, and wait for their third attempt among the others; another delivery fails for the first time.
      const { take, settle } = yield* workerOn()
      const again = (yield* take()).filter(({ endpointId }) => endpointId === endpoint.id)
      expect(again).toHaveLength(11)
      yield* settle(again, { settlement: "retry", delay: 3610 }, 503)
      yield* sql`
        insert into deliveries (organization_id, id, endpoint_id, event_id, attempts, due_at)
        values (${organization.id}, 'dlv_new', ${endpoint.id}, ${eventId}, 1, clock_timestamp() + interval '3610 s')`
      yield* sql`
        insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
        values (${organization.id}, 'dlv_new', 1, clock_timestamp(), 'reset')`
      yield* sql`update delivery_attempts set started_at = clock_timestamp() where number = 2`
      expect((yield* finish(id)).replay).toMatchObject({ state: "finished", total: 23, replayed: 23 })
      expect((yield* due).toSorted()).toEqual(ids.slice(12).toSorted())
      const waiting =
        yield* column<DeliveryId>`select id from deliveries where due_at > clock_timestamp() and owner is null`
      expect(waiting.toSorted()).toEqual([...again.map((each) => each.id), "dlv_new"].toSorted())
    })

    test("sends only those of a failure group, which workers write, and runs once at a time for each delivery", function* () {
      const { endpoint, campaign } = yield* seedWaiting(3)
      const endpointId = endpoint.id
      yield* publishSent(campaign, 5)
      const { take, settle } = yield* workerOn()
      const taken = (yield* take()).filter((each) => each.endpointId === endpointId)
      yield* settle(taken.slice(0, 3), { settlement: "retry", delay: 3600 }, 503)
      yield* settle(taken.slice(3), { settlement: "retry", delay: 3600 }, 500)
      const [groupId, otherGroup] = yield* column<FailureGroupId>`
        select id from failure_groups where endpoint_id = ${endpointId} order by status desc`
      const { countWaiting } = yield* ReplayReader
      const counted = [{ groupId: groupId! }, { groupId: otherGroup! }, {}].map((each) =>
        countWaiting({ endpointId, ...each }),
      )
      expect(yield* Effect.all(counted)).toEqual([3, 2, 8].map((count) => ({ count, isWhole: true })))
      const ofGroup = yield* retryWaiting({ endpointId, groupId: groupId! }, 10)
      expect(ofGroup).toMatchObject({ total: 3, groupId })
      for (const overlapping of [{ endpointId }, { endpointId, groupId: groupId! }]) {
        expect(yield* Effect.flip(retryWaiting(overlapping, 10))).toMatchObject({ replayId: ofGroup.id })
      }
      expect(yield* retryWaiting({ endpointId, groupId: otherGroup! }, 10)).toMatchObject({ total: 2 })
      expect((yield* finish(ofGroup.id)).replay).toMatchObject({ replayed: 3 })
      const rest = { endpointId, groupId: groupId! }
      expect(yield* countWaiting(rest)).toEqual({ count: 0, isWhole: true })
    })

    test("can be planned for a group whose deliveries are due after many others", function* () {
      const { endpoint, organization } = yield* seedWaiting(COUNT_CAP)
      const groupId = `fgr_${"0".repeat(32)}` as FailureGroupId
      yield* sql`
        insert into failure_groups (organization_id, id, endpoint_id, outcome, opened_at, last_at)
        values (${organization.id}, ${groupId}, ${endpoint.id}, 'reset', clock_timestamp(), clock_timestamp())`
      const { many, obstacle } = yield* retryDeliveries.plan!({ groupId, rate: 10 })
      expect([many, obstacle]).toEqual(["0 or more deliveries, each with its next attempt", undefined])
    })

    test("makes each due once, with concurrent workers that send", function* () {
      const { endpoint, ids } = yield* seedWaiting(200)
      const { id } = yield* retryWaiting({ endpointId: endpoint.id }, 700)
      const { take, settle } = yield* workerOn()
      const sent: Array<DeliveryId> = []
      const send = Effect.gen(function* () {
        while (sent.length < ids.length) {
          const taken = (yield* take(30)).filter(({ endpointId }) => endpointId === endpoint.id)
          sent.push(...taken.map((each) => each.id))
          if (taken.length > 0) yield* settle(taken)
        }
      })
      const work = Effect.gen(function* () {
        while ("replay" in (yield* Effect.andThen(skipPause, replayNextChunk))) yield* Effect.yieldNow
      })
      yield* Effect.all([send, work, work, work, finish(id)], { concurrency: "unbounded" })
      expect(sent.toSorted()).toEqual(ids.toSorted())
      expect(yield* (yield* ReplayJobQueue).find(id)).toMatchObject({ state: "finished", replayed: 200 })
    })

    test("is rejected for a disabled endpoint, and cancelled with a removed one", function* () {
      const { endpoint } = yield* seedWaiting(30)
      const endpoints = yield* EndpointRepository
      const retry = retryWaiting({ endpointId: endpoint.id }, 10)
      yield* endpoints.disable(endpoint.id)
      expect(yield* Effect.flip(retry)).toMatchObject({ _tag: "EndpointDisabled", endpointId: endpoint.id })
      yield* endpoints.enable(endpoint.id)
      const { id } = yield* retry
      yield* endpoints.remove(endpoint.id)
      yield* endpoints.endRemoved
      expect(yield* (yield* ReplayJobQueue).find(id)).toMatchObject({ state: "cancelled" })
      expect(yield* Effect.flip(retry)).toMatchObject({ _tag: "EndpointRemoved" })
    })
  })

  describe("for a range of a log", () => {
    /** An organization with a disabled endpoint that hasn't read the published events. */
    const seedLog = Effect.fnUntraced(function* (count: number) {
      const seeded = yield* seedDeadLetters(0)
      const events = [seeded.eventId, ...(yield* publishSent(seeded.campaign, count - 1))]
      const published = yield* column<Timestamp>`
        select emitted_at as at from events where organization_id = ${seeded.organization.id} order by emitted_at, id`
      const all = {
        endpointId: seeded.endpoint.id,
        from: published[0]!,
        to: Timestamp.make("2100-01-01T00:00:00.000000Z"),
      }
      return { ...seeded, events, published, all }
    })
    const createOfLog = (range: LogRange, rate = 10_000) => createLogReplay(range, rate)
    const queued = column<string>`
        select event_id from deliveries where replay and attempts = 0 and owner is null order by due_at, id`

    test("sends each event once, in order and chunk by chunk, regardless of its earlier outcome", function* () {
      const { endpoint, events, all, published } = yield* seedLog(25)
      expect(yield* (yield* ReplayReader).countInLog(all)).toBe(25)
      expect(yield* queued).toEqual([])
      const { id, ...made } = yield* createOfLog(all, 100)
      expect(made).toMatchObject({
        kind: "log",
        state: "running",
        total: 25,
        endpointId: endpoint.id,
        from: published[0],
        to: all.to,
      })
      expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed: 10, state: "running" } })
      expect(yield* queued).toEqual(events.slice(0, 10))
      expect((yield* finish(id)).replay).toMatchObject({ state: "finished", replayed: 25 })
      expect(yield* queued).toEqual(events)
    })

    test("sends events published in a time range, up to its creation", function* () {
      const { campaign, events, all, published } = yield* seedLog(5)
      const { id, total } = yield* createOfLog({ ...all, from: published[1]!, to: published[4]! })
      expect(total).toBe(3)
      yield* finish(id)
      expect(yield* queued).toEqual(events.slice(1, 4))
      const rest = yield* createOfLog({ ...all, from: published[4]! })
      yield* publishSent(campaign, 3)
      yield* finish(rest.id)
      expect(yield* queued).toEqual(events.slice(1))
      expect(yield* createOfLog({ ...all, from: all.to, to: all.from })).toMatchObject({ state: "finished", total: 0 })
    })

    test("sends the requested types, or those that the endpoint receives", function* () {
      const { all, events, endpoint } = yield* seedLog(3)
      const { countInLog } = yield* ReplayReader
      yield* updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_bounced"] })
      expect(yield* countInLog(all)).toBe(0)
      const types = ["outreach.email_bounced", "outreach.email_sent"]
      expect(yield* countInLog({ ...all, eventTypes: types })).toBe(3)
      const { replay } = yield* finish((yield* createOfLog({ ...all, eventTypes: types })).id)
      expect(replay).toMatchObject({ replayed: 3, eventTypes: types })
      expect(yield* queued).toEqual(events)
    })

    test("sends each event once with concurrent and crashing workers, and with a job of dead letters", function* () {
      const { all, events } = yield* seedLog(30)
      yield* seedDeadLetters(100)
      const dead = yield* create({}, 200)
      const { id } = yield* createOfLog(all, 100)
      const died = inTransaction(
        Effect.andThen(Effect.andThen(skipPause, replayNextChunk), Effect.fail("died" as const)),
      )
      expect(yield* Effect.flip(died)).toBe("died")
      expect(yield* queued).toEqual([])
      const work = Effect.gen(function* () {
        while ("replay" in (yield* Effect.andThen(skipPause, replayNextChunk))) yield* Effect.yieldNow
      })
      yield* Effect.replicateEffect(work, 5, { concurrency: "unbounded" })
      expect((yield* finish(id)).replay.replayed).toBe(30)
      expect((yield* finish(dead.id)).replay.replayed).toBe(100)
      const sent = yield* queued
      expect(sent).toHaveLength(130)
      expect(sent.filter((eventId) => events.includes(eventId as EventId))).toEqual(events)
    })

    test("is only rejected while an active job of the endpoint is still going to send some of the same events", function* () {
      const { all, published } = yield* seedLog(20)
      const other = yield* seedLog(20)
      const { id } = yield* createOfLog({ ...all, to: published[15]! }, 100)
      const overlaps = { _tag: "ReplayOverlaps", replayId: id }
      expect(yield* Effect.flip(createOfLog(all))).toMatchObject(overlaps)
      expect(yield* Effect.flip(createOfLog({ ...all, from: published[14]! }))).toMatchObject(overlaps)
      yield* createOfLog({ ...all, from: published[15]! })
      yield* createOfLog({ ...all, eventTypes: ["outreach.email_bounced"] })
      const made = yield* Effect.replicateEffect(Effect.result(createOfLog(other.all)), 4, { concurrency: "unbounded" })
      expect(made.filter(Result.isSuccess)).toHaveLength(1)
      yield* finish(id)
      expect((yield* finish((yield* createOfLog({ ...all, to: published[15]! })).id)).replay.replayed).toBe(15)
    })
  })

  test("rejects an unknown id", function* () {
    const replayJobs = yield* ReplayJobQueue
    const replayId = yield* createIdentifier("replay")
    for (const ask of [replayJobs.find(replayId), replayJobs.cancel(replayId)]) {
      expect(yield* Effect.flip(ask)).toMatchObject({ _tag: "ReplayNotFound", replayId })
    }
  })

  test("reads more and more dead letters while a filter excludes most of them, and as many as it sends without a filter", function* () {
    const { endpoint } = yield* seedDeadLetters(2, { daysAgo: 2 })
    yield* seedDeadLetters(300, { daysAgo: 1 })
    yield* insertDeadLetters(
      (yield* (yield* DeadLetterReader).list({ endpointId: endpoint.id }, 2)).flatMap(({ organizationId, eventId }) =>
        Array(20).fill({ organizationId, endpointId: endpoint.id, eventId, reason: "exhausted" }),
      ),
    )
    const { id } = yield* create({ endpointId: endpoint.id }, 20)
    const scanLimit = value<number>`select scan_limit as "scanLimit" from replay_jobs where id = ${id}`
    const limits: Array<number> = []
    while ((yield* (yield* ReplayJobQueue).find(id)).state === "running") {
      yield* Effect.andThen(skipPause, replayNextChunk)
      limits.push(yield* scanLimit)
    }
    expect(yield* replays).toEqual(all(42))
    // First the two, then 300 in doubling steps, and then two at a time.
    expect(limits.slice(0, 8)).toEqual([2, 4, 8, 16, 32, 64, 128, 256])
    expect(limits.slice(9)).toEqual([...Array(limits.length - 10).fill(2), 4])
  })

  test("finds each next chunk in one index range, with old and new statistics", function* () {
    yield* keepStatistics("dead_letters")
    const read = Effect.map(
      sql<{ scanned: number; fetched: number }>`
        select seq_tup_read::int as scanned, idx_tup_fetch::int as fetched from pg_stat_xact_user_tables
        where relname = 'dead_letters'`,
      (rows) => rows[0] ?? { scanned: 0, fetched: 0 },
    )
    // In a transaction, so that all statements use one connection, with its read counters and plans.
    yield* inTransaction(
      Effect.gen(function* () {
        const { endpoint } = yield* seedDeadLetters(20, { daysAgo: 1 })
        yield* sql`analyze dead_letters`
        yield* seedDeadLetters(3000)
        const { id } = yield* create({ endpointId: endpoint.id }, 10)
        for (let replayed = 1; replayed <= 12; replayed++) {
          if (replayed === 7) yield* sql`analyze dead_letters`
          yield* sql`
            select set_config('plan_cache_mode', ${replayed % 6 < 3 ? "force_custom_plan" : "force_generic_plan"}, true)`
          yield* skipPause
          const start = yield* read
          expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed } })
          const end = yield* read
          // A trigger may read one row before it returns.
          expect(end.scanned - start.scanned).toBeLessThanOrEqual(1)
          expect(end.fetched - start.fetched).toBeLessThanOrEqual(20)
        }
      }),
    )
  })
})
