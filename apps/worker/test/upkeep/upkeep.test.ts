import { expect } from "@effect/vitest"
import { Hints, type Topic } from "@outreach/postgres/events/Hints"
import { OldRows } from "@outreach/postgres/OldRows"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Queue, Schedule } from "effect"
import { managePartitions } from "../../src/upkeep/managePartitions.ts"
import { closeFailureGroups, countCampaigns, deleteExpired, mergeOutcomes } from "../../src/upkeep/upkeep.ts"

const { test } = testsOnDatabase()

/** Runs the same upkeep of two workers until a statement's rows satisfy; returns these. */
const whileTwo = <Row, E1, R1, E2, R2>(
  upkeep: Effect.Effect<never, E2, R2>,
  read: Effect.Effect<ReadonlyArray<Row>, E1, R1>,
  satisfies: (rows: ReadonlyArray<Row>) => boolean,
) =>
  Effect.raceFirst(
    Effect.repeat(read, { until: satisfies, schedule: Schedule.spaced("20 millis") }),
    Effect.all([upkeep, upkeep], { concurrency: "unbounded" }) as Effect.Effect<never, E2, R2>,
  )

test("workers close failure groups of endpoints that accept calls again, and keep the other groups open", function* () {
  for (const delivered of [1, 0]) {
    const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`
      insert into failure_groups (organization_id, id, endpoint_id, outcome, failures, opened_at, last_at)
      values (${organization.id}, ${`fgr_${delivered}`}, ${endpoint.id}, 'tls', 5, now() - interval '2 hours', now() - interval '1 hour')`
    yield* sql`
      insert into delivery_outcomes (organization_id, endpoint_id, at, delivered, no_responses)
      values (${organization.id}, ${endpoint.id}, date_bin('5 minutes', now(), 'epoch'), ${delivered}, 5)`
  }
  const closed = sql<{
    id: string
  }>`select id from failure_groups where id in ('fgr_0', 'fgr_1') and closed_at is not null`
  expect(yield* whileTwo(closeFailureGroups, closed, ({ length }) => length > 0)).toEqual([{ id: "fgr_1" }])
})

test("workers add changes to the counts of campaigns", function* () {
  const ids: Array<string> = []
  for (const recipients of [2, 3]) ids.push((yield* seedCampaign({ recipients })).campaign.id)
  const counts = sql<{ id: string; recipients: number }>`
    select campaign_id as id, recipients from campaign_counts where campaign_id = any(${ids}) and recipients > 0
    order by recipients`
  expect(yield* whileTwo(countCampaigns, counts, ({ length }) => length === 2)).toEqual([
    { id: ids[0], recipients: 2 },
    { id: ids[1], recipients: 3 },
  ])
  expect(yield* sql`select from campaign_count_changes where campaign_id = any(${ids})`).toEqual([])
})

test("workers merge outcomes that are days old by the hour, and delete those past the retention", function* () {
  const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
  yield* sql`
    insert into delivery_outcomes (organization_id, endpoint_id, at, delivered)
    select ${organization.id}, ${endpoint.id}, date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes', 1
    from generate_series(0, 12 * 24 * 6 - 1) n`
  yield* sql`
    insert into failure_groups (organization_id, id, endpoint_id, outcome, opened_at, last_at)
    values (${organization.id}, 'fgr_', ${endpoint.id}, 'client_error', now() - interval '5 days', now() - interval '5 days')`
  // One worker may delete the group while the other still merges.
  const left = sql`
    select 1 from failure_groups where organization_id = ${organization.id} union all
    select 1 from delivery_outcomes where endpoint_id = ${endpoint.id} and seconds = 300 and at < now() - interval '50 hours'`
  yield* whileTwo(mergeOutcomes(4), left, ({ length }) => length === 0)
  const rows = yield* sql<{ seconds: number; delivered: number; count: number }>`
    select seconds, min(delivered) as delivered, count(*)::int as count from delivery_outcomes
    where endpoint_id = ${endpoint.id} group by seconds order by seconds`
  expect(rows).toMatchObject([{ seconds: 300, delivered: 1 }, { seconds: 3600 }])
  // Two days by five minutes, and the hours of the two days before.
  expect(rows[0]!.count).toBeGreaterThanOrEqual(2 * 24 * 12)
  expect(rows[1]!.count).toBeGreaterThanOrEqual(47)
})

test("workers delete expired rows although one kind of them can't be deleted", function* () {
  yield* sql`insert into send_rates values ('', now() - interval '1 day')`
  const deleteRateWindows = Effect.die(new Error("a defect"))
  const deleting = Effect.updateService(deleteExpired, OldRows, (rows) => ({ ...rows, deleteRateWindows }))
  expect(yield* whileTwo(deleting, sql`select from send_rates`, ({ length }) => length === 0)).toEqual([])
})

test("new partitions of the events are announced to all organizations, because a reader that waited for them saw none", function* () {
  const given = yield* Queue.unbounded<readonly [Topic, string | undefined]>()
  const hints = Hints.of({
    isListening: () => false,
    checkEveryMs: () => 1000,
    give: (topic, organizationId) => Effect.asVoid(Queue.offer(given, [topic, organizationId])),
    listen: () => Effect.never,
  })
  const keep = { historyDays: 90, eventsMonths: null, inboxMonths: null, deadLettersDays: null }
  const managing = Effect.provideService(managePartitions(keep), Hints, hints)
  expect(yield* Effect.raceFirst(Queue.take(given), managing)).toEqual(["events", undefined])
})
