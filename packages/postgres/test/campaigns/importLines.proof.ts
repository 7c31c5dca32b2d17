import { expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase())

test("a long batch with fields is imported within the statement's timeout, though the statistics know nothing of its campaign", function* () {
  const sql = yield* SqlClient.SqlClient
  const seed = { recipients: 20_000, fields: ["first_name"], fieldsOf: () => ({ first_name: "Ana" }) }
  yield* seedCampaign(seed)
  yield* sql`analyze`
  const { organization } = yield* seedCampaign(seed)
  expect(yield* sql`select count(*)::int from recipient_fields where organization_id = ${organization.id}`).toEqual([
    { count: 20_000 },
  ])
})
