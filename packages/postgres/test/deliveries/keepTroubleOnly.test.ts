import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { publishSent } from "@outreach/testing/publishSent"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"

const run = runOnDatabase()
const test = effectTest(run)

test("keeps a row of deliveries that comes from the log or is replayed, and drops the others", function* () {
  const sql = yield* SqlClient.SqlClient
  const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
  const [eventId] = yield* publishSent(campaign, 1)
  yield* sql`
    insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, from_log, replay)
    select ${campaign.organizationId}, id, ${endpoint.id}, ${eventId!}, clock_timestamp(), from_log, replay
    from (values ('dlv_log', true, false), ('dlv_replay', false, true), ('dlv_other', false, false)) as row (id, from_log, replay)`
  expect(yield* sql`select id from deliveries order by id`).toEqual([{ id: "dlv_log" }, { id: "dlv_replay" }])
})
