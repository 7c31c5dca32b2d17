import { describe, expect } from "@effect/vitest"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createIdentifier, type EventId, type ReplayId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { type DeadLetterFilter, DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { type LogRange, ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { publishSent } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

// A step is that of any job, so each test begins with none.
beforeEach(() => run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`truncate replay_jobs, deliveries, dead_letters`)))

const create = (filter: DeadLetterFilter, rate = 10_000) =>
  Effect.flatMap(ReplayJobQueue, (book) => book.create(filter, rate))
const replayNextChunk = Effect.flatMap(ReplayJobQueue, (jobs) => jobs.replayNextChunk)
/** Lets every job go on at once, as the passing of its pause would. */
const skipPause = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    update replay_jobs set next_at = clock_timestamp()
    where id in (select id from replay_jobs where finished_at is null for update skip locked)`,
)
/** Carries a job out to its end. */
const finish = Effect.fnUntraced(function* (replayId: ReplayId) {
  const replayJobs = yield* ReplayJobQueue
  let steps = 0
  for (; (yield* replayJobs.find(replayId)).state === "running"; steps++)
    yield* Effect.andThen(skipPause, replayNextChunk)
  return { steps, replay: yield* replayJobs.find(replayId) }
})
/** Returns how many new deliveries there are, and of how many dead letters each exactly one. */
const replays = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [counts] = yield* sql<{ dead: number; queued: number; paired: number }>`
    select (select count(*)::int from dead_letters where replayed_as is not null) as dead,
      (select count(*)::int from deliveries) as queued,
      (select count(*)::int from deliveries queued join dead_letters dead on dead.replayed_as = queued.id
        and dead.endpoint_id = queued.endpoint_id and dead.event_id = queued.event_id
        where queued.replay and queued.attempts = 0 and queued.owner is null) as paired`
  return counts!
})
const all = (count: number) => ({ dead: count, queued: count, paired: count })

describe("ReplayJobQueue", () => {
  test("replays every dead letter once, chunk by chunk, oldest first, each as a delivery of its own", function* () {
    yield* seedDeadLetters(2500)
    const { id, ...made } = yield* create({}, 5000)
    expect(made).toMatchObject({ state: "running", total: 2500, replayed: 0, rate: 5000, finishedAt: null })
    expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed: 500, state: "running" } })
    const sql = yield* SqlClient.SqlClient
    const [first] = yield* sql<{ inOrder: boolean }>`
      select max(finished_at) filter (where replayed_as is not null) < min(finished_at) filter (where replayed_as is null) as "inOrder"
      from dead_letters`
    expect(first).toEqual({ inOrder: true })
    const { replay } = yield* finish(id)
    expect(replay).toMatchObject({ state: "finished", replayed: 2500, finishedAt: expect.any(String) })
    expect(yield* replays).toEqual(all(2500))
  })

  test("replays what every condition names, and nothing else, however few those are", function* () {
    yield* seedDeadLetters(2100, { reason: "rejected" })
    const { endpoint } = yield* seedDeadLetters(3, { reason: "poison" })
    yield* seedDeadLetters(2, { reason: "poison" })
    const endpointId = endpoint.id
    const [last, second, first] = yield* (yield* DeadLetterRepository).list({ endpointId }, 10)
    const count = Effect.fnUntraced(function* (filter: DeadLetterFilter) {
      const { id, total } = yield* create(filter)
      const { replay } = yield* finish(id)
      return [total, replay.replayed]
    })
    expect(yield* count({ endpointId, reason: "rejected" })).toEqual([0, 0])
    expect(yield* count({ endpointId, eventType: "outreach.email_bounced" })).toEqual([0, 0])
    // From is inclusive, to exclusive.
    expect(yield* count({ endpointId, from: first!.finishedAt!, to: second!.finishedAt! })).toEqual([1, 1])
    expect(yield* count({ endpointId, from: last!.finishedAt! })).toEqual([1, 1])
    expect(yield* count({ reason: "poison", eventType: "outreach.email_sent" })).toEqual([3, 3])
    expect(yield* replays).toEqual(all(5))
  })

  test("replays what was set aside up to its making, and leaves alone what came later", function* () {
    yield* seedDeadLetters(5)
    const { id } = yield* create({})
    const later = yield* seedDeadLetters(5)
    expect((yield* finish(id)).replay).toMatchObject({ total: 5, replayed: 5 })
    const left = yield* (yield* DeadLetterRepository).list({}, 100)
    expect(left.map(({ endpointId }) => endpointId)).toEqual(Array(5).fill(later.endpoint.id))
  })

  test("has finished at once when there is nothing to replay", function* () {
    const { createdAt, ...made } = yield* create({})
    expect(made).toMatchObject({ state: "finished", total: 0, replayed: 0, finishedAt: createdAt })
    expect(yield* replayNextChunk).toEqual({ nextInMs: null })
  })

  test("keeps its rate by the database's clock, and makes up for no more than one late chunk", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* seedDeadLetters(1000)
    const { id } = yield* create({}, 100)
    const nextIn = Effect.map(
      sql<{ seconds: number }>`
        select extract(epoch from next_at - clock_timestamp())::double precision as seconds from replay_jobs where id = ${id}`,
      (rows) => rows[0]!.seconds,
    )
    // Ten minutes during which no worker ran.
    yield* sql`update replay_jobs set next_at = next_at - interval '10 minutes'`
    expect(yield* replayNextChunk).toMatchObject({ replay: { replayed: 10 } })
    expect(yield* replayNextChunk).toMatchObject({ replay: { replayed: 20 } })
    expect(yield* nextIn).toBeGreaterThan(0)
    expect(yield* nextIn).toBeLessThanOrEqual(0.1)
    const answer = yield* replayNextChunk
    expect(answer).toEqual({ nextInMs: expect.any(Number) })
    expect((answer as { nextInMs: number }).nextInMs).toBeLessThanOrEqual(100)
  })

  test("replays each dead letter once, though jobs overlap and many workers and an operator are at it", function* () {
    yield* seedDeadLetters(2000)
    const jobs = yield* Effect.forEach([2000, 3000, 7000], (rate) => create({}, rate))
    const repository = yield* DeadLetterRepository
    const [newest] = yield* repository.list({}, 1)
    const work = Effect.gen(function* () {
      while ("replay" in (yield* Effect.andThen(skipPause, replayNextChunk))) yield* Effect.yieldNow
    })
    const workers = Array.from({ length: 6 }, () => work)
    yield* Effect.all([...workers, repository.replay(newest!.id)], { concurrency: "unbounded" })
    for (const { id } of jobs) expect((yield* finish(id)).replay.state).toBe("finished")
    expect(yield* replays).toEqual(all(2000))
    const done = yield* (yield* ReplayJobQueue).list(10)
    expect(done.reduce((sum, { replayed }) => sum + replayed, 0)).toBe(1999)
  })

  test("gives a chunk to one worker at a time, and stands where it stood when that worker dies", function* () {
    yield* seedDeadLetters(30)
    const { id } = yield* create({}, 100)
    // Taken back, as the server does for a worker that is gone.
    const died = inTransaction(
      Effect.gen(function* () {
        expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed: 10 } })
        return yield* Effect.fail("died" as const)
      }),
    )
    expect(yield* Effect.flip(died)).toBe("died")
    expect(yield* replays).toEqual(all(0))
    expect((yield* finish(id)).replay.replayed).toBe(30)
    expect(yield* replays).toEqual(all(30))
  })

  test("ends where it is when it is cancelled, and keeps what it did", function* () {
    const replayJobs = yield* ReplayJobQueue
    yield* seedDeadLetters(30)
    const { id } = yield* create({}, 100)
    yield* replayNextChunk
    const cancelled = yield* replayJobs.cancel(id)
    expect(cancelled).toMatchObject({ state: "cancelled", replayed: 10, cancelledAt: expect.any(String) })
    expect(yield* replayJobs.cancel(id)).toEqual(cancelled)
    expect(yield* Effect.andThen(skipPause, replayNextChunk)).toEqual({ nextInMs: null })
    expect(yield* replays).toEqual(all(10))
    // What is left is for another job.
    const { replay } = yield* finish((yield* create({})).id)
    expect(replay).toMatchObject({ total: 20, replayed: 20 })
    expect(yield* Effect.flip(replayJobs.cancel(replay.id))).toMatchObject({ _tag: "ReplayFinished", replayed: 20 })
  })

  describe("of a range of a log", () => {
    /** An organization whose disabled endpoint has its place behind what was published. */
    const seedLog = Effect.fnUntraced(function* (count: number) {
      const sql = yield* SqlClient.SqlClient
      const seeded = yield* seedDeadLetters(0)
      const events = [seeded.eventId, ...(yield* publishSent(seeded.campaign, count - 1))]
      const published = yield* sql<{ at: Timestamp }>`
        select emitted_at as at from events where organization_id = ${seeded.organization.id} order by emitted_at, id`
      const all = {
        endpointId: seeded.endpoint.id,
        from: published[0]!.at,
        to: Timestamp.make("2100-01-01T00:00:00.000000Z"),
      }
      return { ...seeded, events, published: published.map(({ at }) => at), all }
    })
    const createOfLog = (range: LogRange, rate = 10_000) =>
      Effect.flatMap(ReplayJobQueue, (replayJobs) => replayJobs.createOfLog(range, rate))
    const queued = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ event_id: string }>`
        select event_id from deliveries where replay and attempts = 0 and owner is null order by due_at, id`
      return rows.map((row) => row.event_id)
    })

    test("sends each event once, in its order and chunk by chunk, whatever became of it before", function* () {
      const { endpoint, events, all, published } = yield* seedLog(250)
      expect(yield* (yield* ReplayJobQueue).countInLog(all)).toBe(250)
      expect(yield* queued).toEqual([])
      const { id, ...made } = yield* createOfLog(all, 1000)
      expect(made).toMatchObject({
        kind: "log",
        state: "running",
        total: 250,
        endpointId: endpoint.id,
        from: published[0],
        to: all.to,
      })
      expect(yield* replayNextChunk).toMatchObject({ replay: { id, replayed: 100, state: "running" } })
      expect(yield* queued).toEqual(events.slice(0, 100))
      expect((yield* finish(id)).replay).toMatchObject({ state: "finished", replayed: 250 })
      expect(yield* queued).toEqual(events)
    })

    test("sends what was published from a time on, before another, and until it was made", function* () {
      const { campaign, events, all, published } = yield* seedLog(5)
      const { id, total } = yield* createOfLog({ ...all, from: published[1]!, to: published[4]! })
      expect(total).toBe(3)
      yield* finish(id)
      expect(yield* queued).toEqual(events.slice(1, 4))
      const rest = yield* createOfLog({ ...all, from: published[4]! })
      yield* publishSent(campaign, 3)
      yield* finish(rest.id)
      expect(yield* queued).toEqual(events.slice(1))
      expect(yield* createOfLog({ ...all, from: all.to, to: all.from })).toMatchObject({
        state: "finished",
        total: 0,
      })
    })

    test("sends the types that are asked for, or those that the endpoint receives", function* () {
      const endpoints = yield* EndpointRepository
      const { all, events, endpoint } = yield* seedLog(3)
      const { countInLog } = yield* ReplayJobQueue
      yield* endpoints.update(endpoint.id, { eventTypes: ["outreach.email_bounced"] })
      expect(yield* countInLog(all)).toBe(0)
      const types = ["outreach.email_bounced", "outreach.email_sent"]
      expect(yield* countInLog({ ...all, eventTypes: types })).toBe(3)
      const { replay } = yield* finish((yield* createOfLog({ ...all, eventTypes: types })).id)
      expect(replay).toMatchObject({ replayed: 3, eventTypes: types })
      expect(yield* queued).toEqual(events)
    })

    test("sends each event once, though workers die and many are at it, beside a job of dead letters", function* () {
      const { all, events } = yield* seedLog(60)
      yield* seedDeadLetters(500)
      const dead = yield* create({}, 500)
      const { id } = yield* createOfLog(all, 100)
      const died = inTransaction(
        Effect.andThen(Effect.andThen(skipPause, replayNextChunk), Effect.fail("died" as const)),
      )
      expect(yield* Effect.flip(died)).toBe("died")
      expect(yield* queued).toEqual([])
      const work = Effect.gen(function* () {
        while ("replay" in (yield* Effect.andThen(skipPause, replayNextChunk))) yield* Effect.yieldNow
      })
      yield* Effect.all(
        Array.from({ length: 5 }, () => work),
        { concurrency: "unbounded" },
      )
      expect((yield* finish(id)).replay.replayed).toBe(60)
      expect((yield* finish(dead.id)).replay.replayed).toBe(500)
      const sent = yield* queued
      expect(sent).toHaveLength(560)
      expect(sent.filter((eventId) => events.includes(eventId as EventId))).toEqual(events)
    })

    test("ends where it is when it is cancelled, and knows no endpoint that there is not", function* () {
      const replayJobs = yield* ReplayJobQueue
      const { all, events } = yield* seedLog(30)
      const { id } = yield* createOfLog(all, 100)
      yield* replayNextChunk
      expect(yield* replayJobs.cancel(id)).toMatchObject({ state: "cancelled", replayed: 10 })
      expect(yield* Effect.andThen(skipPause, replayNextChunk)).toEqual({ nextInMs: null })
      expect(yield* queued).toEqual(events.slice(0, 10))
      const range = { ...all, endpointId: yield* createIdentifier("endpoint") }
      for (const ask of [replayJobs.countInLog(range), Effect.as(replayJobs.createOfLog(range, 1), 0)]) {
        expect(yield* Effect.flip(ask)).toMatchObject({ _tag: "EndpointNotFound" })
      }
    })
  })

  test("knows nothing of an id that is not a job's", function* () {
    const replayJobs = yield* ReplayJobQueue
    const replayId = yield* createIdentifier("replay")
    for (const ask of [replayJobs.find(replayId), replayJobs.cancel(replayId)]) {
      expect(yield* Effect.flip(ask)).toMatchObject({ _tag: "ReplayNotFound", replayId })
    }
  })

  test("finds each next chunk in one range of the index, among 20,000 dead letters", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* seedDeadLetters(20_000)
    const { endpoint } = yield* seedDeadLetters(10)
    const { id } = yield* create({ endpointId: endpoint.id })
    const read = Effect.map(
      sql<{ scanned: number; fetched: number }>`
        select seq_tup_read::int as scanned, idx_tup_fetch::int as fetched from pg_stat_xact_user_tables
        where relname = 'dead_letters'`,
      (rows) => rows[0] ?? { scanned: 0, fetched: 0 },
    )
    // Counted within the transaction, because that keeps to one connection, which counts for itself.
    const readByStep = inTransaction(
      Effect.gen(function* () {
        yield* skipPause
        const before = yield* read
        yield* replayNextChunk
        const after = yield* read
        return { scanned: after.scanned - before.scanned, fetched: after.fetched - before.fetched }
      }),
    )
    const unanalysed = yield* readByStep
    yield* sql`analyze dead_letters`
    for (const { scanned, fetched } of [unanalysed, yield* readByStep, yield* readByStep]) {
      expect(scanned).toBe(0)
      expect(fetched).toBeLessThanOrEqual(2100)
    }
    expect((yield* finish(id)).replay).toMatchObject({ total: 10, replayed: 10 })
  })
})
