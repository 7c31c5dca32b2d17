import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { managePartitions } from "../../src/upkeep/managePartitions.ts"

const test = effectTest(runOnDatabase())

test("all hits that are old enough are forgotten one batch after another, however many there are", function* () {
  const sql = yield* SqlClient.SqlClient
  const { organization } = yield* seedCampaign({ recipients: 1 })
  yield* sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
    select ${organization.id}, 'hit_' || n, recipients.id, 'open', 'GET', '198.51.100.7', '{}', at, at, '{}'
    from recipients, generate_series(1, 6001) n, lateral (
      select clock_timestamp() - case when n = 6001 then interval '89 days' else interval '91 days' end as at
    ) time
    where organization_id = ${organization.id}`
  const left = sql`select id from hits where organization_id = ${organization.id}`
  const rows = yield* Effect.raceFirst(
    Effect.repeat(left, { until: (rows) => rows.length === 1, schedule: Schedule.spaced("20 millis") }),
    managePartitions({ historyDays: 90 }),
  )
  expect(rows).toEqual([{ id: "hit_6001" }])
})
