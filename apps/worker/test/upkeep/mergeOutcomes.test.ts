import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { mergeOutcomes } from "../../src/upkeep/upkeep.ts"

const test = effectTest(runOnDatabase())

test("workers merge the outcomes of days ago by the hour, and forget those that are too old", function* () {
  const sql = yield* SqlClient.SqlClient
  const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
  yield* sql`
    insert into delivery_outcomes (organization_id, endpoint_id, at, delivered)
    select ${organization.id}, ${endpoint.id}, date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes', 1
    from generate_series(0, 12 * 24 * 6 - 1) n`
  yield* sql`
    insert into failure_groups (organization_id, id, endpoint_id, outcome, opened_at, last_at)
    values (${organization.id}, 'fgr_', ${endpoint.id}, 'client_error', now(), now())`
  yield* sql`
    insert into failure_group_hours (organization_id, group_id, hour, count)
    select ${organization.id}, 'fgr_', now() - n * interval '1 day', 1 from generate_series(0, 5) n`
  const hours = sql<{ count: number }>`select count(*)::int as count from failure_group_hours`
  yield* Effect.raceFirst(
    Effect.repeat(hours, { until: ([row]) => row!.count === 4, schedule: Schedule.spaced("20 millis") }),
    Effect.all([mergeOutcomes(4), mergeOutcomes(4)], { concurrency: "unbounded" }),
  )
  const rows = yield* sql<{ seconds: number; delivered: number }>`
    select seconds, min(delivered) as delivered, count(*)::int as count from delivery_outcomes group by seconds order by seconds`
  expect(rows).toMatchObject([{ seconds: 300, delivered: 1 }, { seconds: 3600 }])
  // Two days by five minutes, and the hours of the two days before.
  expect((rows[0] as { count?: number }).count).toBeGreaterThanOrEqual(2 * 24 * 12)
  expect((rows[1] as { count?: number }).count).toBeGreaterThanOrEqual(47)
})
