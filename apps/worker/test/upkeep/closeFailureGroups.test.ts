import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { closeFailureGroups } from "../../src/upkeep/upkeep.ts"

const test = effectTest(runOnDatabase())

test("workers close the groups of failures whose endpoints accept calls again, and leave the others open", function* () {
  const sql = yield* SqlClient.SqlClient
  for (const delivered of [1, 0]) {
    const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`
      insert into failure_groups (organization_id, id, endpoint_id, outcome, failures, opened_at, last_at)
      values (${organization.id}, ${`fgr_${delivered}`}, ${endpoint.id}, 'tls', 5, now() - interval '2 hours', now() - interval '1 hour')`
    yield* sql`
      insert into delivery_outcomes (organization_id, endpoint_id, at, delivered, no_responses)
      values (${organization.id}, ${endpoint.id}, date_bin('5 minutes', now(), 'epoch'), ${delivered}, 5)`
  }
  const closed = sql<{ id: string }>`select id from failure_groups where closed_at is not null`
  const rows = yield* Effect.raceFirst(
    Effect.repeat(closed, { until: ({ length }) => length > 0, schedule: Schedule.spaced("20 millis") }),
    Effect.all([closeFailureGroups, closeFailureGroups], { concurrency: "unbounded" }),
  )
  expect(rows).toEqual([{ id: "fgr_1" }])
})
