import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { deleteExpired, sampleGauges } from "../../src/upkeep/upkeep.ts"

const test = effectTest(runOnDatabase())
const often = Schedule.spaced("20 millis")

test("workers keep what the gauges read, and delete what is older than eight days", function* () {
  const sql = yield* SqlClient.SqlClient
  const { organization } = yield* seedDeadLetters(2)
  yield* sql`
    insert into gauge_samples select '', now() - make_interval(days => days), 0, 0, 0, 0, 0, 0 from unnest(array[7, 9]) days`
  const samples = sql<{ organizationId: string; deadLetters: number }>`
    select distinct organization_id as "organizationId", dead_letters as "deadLetters" from gauge_samples
    where sampled_at > now() - interval '1 hour' order by 1`
  const taken = yield* Effect.raceFirst(
    Effect.repeat(samples, { until: (rows) => rows.length > 0, schedule: often }),
    Effect.all([sampleGauges, sampleGauges], { concurrency: "unbounded" }),
  )
  expect(taken).toEqual([
    { organizationId: "", deadLetters: 2 },
    { organizationId: organization.id, deadLetters: 2 },
  ])

  const old = sql`select from gauge_samples where sampled_at < now() - interval '1 hour'`
  const left = yield* Effect.raceFirst(
    Effect.repeat(old, { until: (rows) => rows.length < 2, schedule: often }),
    deleteExpired,
  )
  expect(left.length).toBe(1)
})
