import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { countCampaigns } from "../../src/upkeep/upkeep.ts"

const test = effectTest(runOnDatabase())

test("workers add changes to the counts", function* () {
  const sql = yield* SqlClient.SqlClient
  const { campaign: other } = yield* seedCampaign({ recipients: 3 })
  const { campaign } = yield* seedCampaign({ recipients: 2 })
  const kept = sql<{ id: string; recipients: number }>`
    select campaign_id as id, recipients from campaign_counts where recipients > 0 order by recipients`
  const counted = yield* Effect.raceFirst(
    Effect.repeat(kept, { until: (rows) => rows.length === 2, schedule: Schedule.spaced("20 millis") }),
    Effect.all([countCampaigns, countCampaigns], { concurrency: "unbounded" }),
  )
  expect(counted).toEqual([
    { id: campaign.id, recipients: 2 },
    { id: other.id, recipients: 3 },
  ])
  expect(yield* sql`select from campaign_count_changes`).toEqual([])
})
