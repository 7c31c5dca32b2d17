import { describe, expect } from "@effect/vitest"
import { type DeadLetterFilter, DeliveryRepository, purgeDeadLetters } from "@outreach/domain/deliveries/DeadLetters"
import { createDeadLetterReplay, ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import type { DeliveryId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { changeAttempts, insertDeadLetters, seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import fc from "fast-check"
import { DeadLetterReader } from "../../src/deliveries/DeadLetterReader.ts"
import { describeMissingLine, FailureGroupReader } from "../../src/deliveries/FailureGroupReader.ts"

const { test } = testsOnDatabase()

interface Failure {
  readonly reason: "rejected" | "exhausted"
  readonly status: number | null
  readonly response: string | null
  readonly hoursAgo: number
}

/** Adds dead letters with a failure to the endpoint of an organization. */
const add = Effect.fnUntraced(function* (
  { organization, endpoint, eventId }: Effect.Success<ReturnType<typeof seedDeadLetters>>,
  failures: ReadonlyArray<Failure>,
) {
  yield* insertDeadLetters(
    failures.map(({ reason, status, response, hoursAgo }, n) => ({
      ...{ organizationId: organization.id, endpointId: endpoint.id, eventId, reason },
      attempts: [{ status, response, ...(status === null && { outcome: "refused" }) }],
      secondsAgo: hoursAgo * 3600 + n / 1000,
    })),
  )
})

/** Compares the stored counts of all organizations with recounted ones. */
const assertConsistent = Effect.gen(function* () {
  const kept = yield* sql`
    select id, organization_id, endpoint_id, rejected, exhausted, open, stored from failure_groups where stored > 0 order by id`
  const counted = yield* sql`
    select group_id as id, organization_id, endpoint_id,
      count(*) filter (where replayed_as is null and reason = 'rejected')::int as rejected,
      count(*) filter (where replayed_as is null and reason = 'exhausted')::int as exhausted,
      count(*) filter (where replayed_as is null)::int as open, count(*)::int as stored
    from dead_letters group by group_id, organization_id, endpoint_id order by group_id`
  expect(kept).toEqual(counted)
  // A group without dead letters keeps the count of its episode, but not the line.
  expect(yield* sql`select from failure_groups where stored = 0 and first_line is not null`).toEqual([])
})

const failure = fc.record({
  reason: fc.constantFrom("rejected" as const, "exhausted" as const),
  status: fc.constantFrom(500, 503, null),
  response: fc.constantFrom("Database is down", "Try again at 12:30", "Try again at 14:05", null),
  hoursAgo: fc.integer({ min: 0, max: 5 }),
})
const operation = fc.oneof(
  fc.record({ type: fc.constant("add" as const), failures: fc.array(failure, { minLength: 1, maxLength: 12 }) }),
  fc.record({ type: fc.constantFrom("replay", "erase", "purge", "close", "forget"), at: fc.nat() }),
)

describe("Groups of failures", () => {
  test("match a recount after any additions, replays, purges and erasures, also concurrent ones", function* () {
    const seeds = [yield* seedDeadLetters(3), yield* seedDeadLetters(3)]
    const deadLetters = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const outcomes = yield* DeliveryOutcomes
    const apply = Effect.fnUntraced(function* (each: (typeof operations)[number], i: number) {
      if (each.type === "add") return yield* add(seeds[i % 2]!, each.failures)
      if (each.type === "close") {
        yield* sql`update delivery_outcomes set delivered = delivered + 1 where at > now() - interval '10 minutes'`
        return yield* outcomes.closeGroups
      }
      if (each.type === "forget") return yield* outcomes.forgetGroups(1)
      const rows = yield* sql<{ id: DeliveryId; organizationId: OrganizationId; finishedAt: Timestamp }>`
        select id, organization_id as "organizationId", finished_at as "finishedAt" from dead_letters
        order by finished_at offset ${each.at % 20}::int limit 4`
      for (const { id, organizationId, finishedAt } of rows) {
        if (each.type === "replay") yield* deadLetters.replay(id)
        else if (each.type === "purge") yield* deadLetters.purge({ organizationId }, finishedAt, null)
        else {
          yield* changeAttempts(organizationId, (made) => made.map((one) => ({ ...one, response: null })), id)
        }
      }
    })
    const operations = fc.sample(operation, 120)
    yield* Effect.forEach(operations.slice(0, 60), apply, { discard: true })
    yield* assertConsistent
    yield* Effect.forEach(operations.slice(60), apply, { discard: true, concurrency: 6 })
    yield* assertConsistent
    yield* purgeDeadLetters({}, Timestamp.make("2999-01-01T00:00:00.000000Z"))
    yield* assertConsistent
    expect(yield* sql`select from failure_groups where stored <> 0 or open <> 0`).toEqual([])
  })

  test("have one endpoint, status and first line, and are listed with the newest failure first", function* () {
    const groups = yield* FailureGroupReader
    const seeded = yield* seedDeadLetters(0)
    const organizationId = seeded.organization.id
    const one = { reason: "exhausted", status: 500, response: "Database is down\nat 12:00", hoursAgo: 0 } as const
    yield* add(seeded, [
      one,
      { ...one, response: "Database is down\nat 13:00", hoursAgo: 2 },
      { ...one, reason: "rejected", hoursAgo: 1 },
      { ...one, status: null, response: null, hoursAgo: 3 },
    ])
    const list = yield* groups.list({ organizationId }, 10)
    expect(list).toMatchObject([
      { status: 500, outcome: "server_error", firstLine: "Database is down", failures: 3, open: 3, stored: 3 },
      { status: null, outcome: "refused", firstLine: null, failures: 1, open: 1 },
    ])
    expect(describeMissingLine(list[1]!)).toBe("no response")
    const [first] = list
    expect(yield* groups.list({ organizationId }, 10, first)).toEqual(list.slice(1))
    expect(yield* groups.list({ organizationId, largest: true }, 1)).toEqual([first])
    expect(yield* groups.find(first!.id)).toEqual(first)
    expect(yield* groups.totals({ organizationId })).toMatchObject({ open: 4, groups: 2 })
    expect(yield* groups.totals({ organizationId, status: 500 })).toMatchObject({ open: 3, groups: 1 })
    const [newest] = yield* (yield* DeadLetterReader).list({ endpointId: seeded.endpoint.id }, 1)
    yield* (yield* DeliveryRepository).replay(newest!.id)
    expect(yield* groups.find(first!.id)).toMatchObject({ open: 2, stored: 3 })
  })

  test("contain the line of a worker's response, and no line if the event was erased", function* () {
    const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
    yield* publishSent(campaign, 3)
    const worker = yield* workerOn()
    const taken = (yield* worker.take()).filter(({ endpointId }) => endpointId === endpoint.id)
    yield* sql`insert into erased_events (organization_id, event_id) values (${organization.id}, ${taken[0]!.eventId})`
    yield* worker.settle(taken, { settlement: "rejected" }, 410)
    const groups = yield* (yield* FailureGroupReader).list({ endpointId: endpoint.id }, 9)
    expect(groups).toHaveLength(2)
    expect(groups).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ status: 410, firstLine: "gone", open: 2, stored: 2 }),
        expect.objectContaining({ status: 410, firstLine: null, open: 1, stored: 1 }),
      ]),
    )
    yield* assertConsistent
  })

  test("are limited to six per status and endpoint, with any number of different responses and workers", function* () {
    const groups = yield* FailureGroupReader
    const seeded = yield* seedDeadLetters(0)
    const word = (n: number) => Array.from({ length: 8 }, (_, i) => "abcdefghij"[Math.floor(n / 10 ** i) % 10]).join("")
    const failed = { reason: "rejected", status: 500, hoursAgo: 0 } as const
    for (let batch = 0; batch < 3; batch++) {
      yield* add(
        seeded,
        Array.from({ length: 60 }, (_, n) => ({ ...failed, response: word(batch * 1000 + n) })),
      )
    }
    yield* add(seeded, [{ ...failed, status: 503, response: "Down for maintenance" }])
    const list = yield* groups.list({ endpointId: seeded.endpoint.id, largest: true }, 200)
    expect(list.map(({ status }) => status).toSorted()).toEqual([...Array(6).fill(500), 503])
    expect(list[0]).toMatchObject({ firstLine: "Many different responses", open: 175 })
    yield* assertConsistent
  })

  test("are replayed and purged separately, by status or by organization", function* () {
    const groups = yield* FailureGroupReader
    const deadLetters = { ...(yield* DeadLetterReader), ...(yield* DeliveryRepository) }
    const replayJobs = yield* ReplayJobQueue
    const failed = { reason: "exhausted", status: 500, response: "Down", hoursAgo: 1 } as const
    const other = yield* seedDeadLetters(0)
    yield* add(other, [failed])
    const seeded = yield* seedDeadLetters(0)
    const organizationId = seeded.organization.id
    yield* add(seeded, [...Array(5).fill(failed), { ...failed, response: "Full" }, { ...failed, status: 503 }])
    const list = yield* groups.list({ organizationId, largest: true }, 10)
    const groupId = list[0]!.id
    expect(list.map(({ open }) => open)).toEqual([5, 1, 1])

    const ofGroup = yield* deadLetters.list({ groupId }, 3)
    expect(ofGroup).toHaveLength(3)
    const { id, finishedAt } = ofGroup[2]!
    expect(yield* deadLetters.list({ groupId }, 3, { id, finishedAt: finishedAt! })).toHaveLength(2)
    expect(yield* deadLetters.list({ organizationId, status: 503 }, 9)).toHaveLength(1)
    expect(yield* deadLetters.count({ organizationId, status: 500 })).toMatchObject([{ count: 6 }])

    const finish = Effect.fnUntraced(function* (filter: DeadLetterFilter) {
      const { id, total } = yield* createDeadLetterReplay(filter, 10_000)
      while ((yield* replayJobs.find(id)).state === "running") {
        yield* sql`update replay_jobs set next_at = clock_timestamp()`
        yield* replayJobs.replayNextChunk
      }
      const { replayed, kind } = yield* replayJobs.find(id)
      return { total, replayed, kind }
    })
    const kind = "dead_letters"
    expect(yield* finish({ groupId })).toEqual({ total: 5, replayed: 5, kind })
    expect(yield* groups.find(groupId)).toMatchObject({ open: 0, stored: 5 })
    expect(yield* finish({ organizationId, status: 503 })).toEqual({ total: 1, replayed: 1, kind })
    expect((yield* groups.list({ organizationId }, 10)).map(({ firstLine }) => firstLine)).toEqual(["Full"])
    expect(yield* finish({ organizationId })).toEqual({ total: 1, replayed: 1, kind })
    expect(yield* groups.totals({ organizationId: other.organization.id })).toMatchObject({ open: 1, groups: 1 })

    const { before, count } = yield* deadLetters.countOld({ groupId }, 0)
    expect(count).toBe(5)
    expect(yield* deadLetters.purge({ groupId }, before, null)).toMatchObject({ purged: 5 })
    const emptied = yield* groups.find(groupId)
    expect(emptied).toMatchObject({ open: 0, stored: 0, firstLine: null, failures: 5 })
    expect(describeMissingLine(emptied)).toBe("the text of the response was deleted")
    yield* assertConsistent
  })

  test("show the line of a new cause, regardless of the number of closed groups with its status", function* () {
    const groups = yield* FailureGroupReader
    const seeded = yield* seedDeadLetters(0)
    const responses = ["One", "Two", "Three", "Four", "Five", "Six"]
    for (const response of responses) {
      yield* add(seeded, [{ reason: "exhausted", status: 500, response, hoursAgo: 0 }])
      yield* sql`delete from dead_letters where endpoint_id = ${seeded.endpoint.id}`
      yield* sql`
        update failure_groups set closed_at = last_at, exhausted = 0, open = 0, stored = 0 where endpoint_id = ${seeded.endpoint.id}`
    }
    const [newest] = yield* groups.list({ endpointId: seeded.endpoint.id, state: "ended" }, 1)
    expect(newest).toMatchObject({ firstLine: "Six" })
    // Their lines don't match the checks of other tests.
    yield* sql`update failure_groups set first_line = null where endpoint_id = ${seeded.endpoint.id}`
  })
})
