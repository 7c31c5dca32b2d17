import { expect } from "@effect/vitest"
import { ErasureRepository } from "@outreach/domain/erasure/ErasureRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { KEY_RECIPIENTS } from "@outreach/testing/keyRecipients"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { blocksRead } from "../blocksRead.ts"
import { keepStatistics } from "../keepStatistics.ts"

const test = effectTest(runOnDatabase({ maxConnections: 1 }))

test("a campaign whose recipients are all erased costs two look-ups by an index, and one that has another recipient is found", function* () {
  const sql = yield* SqlClient.SqlClient
  const erasures = yield* ErasureRepository
  yield* Effect.forEach(["recipients", "recipient_keys"], keepStatistics)
  const { organization, program, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at, erased_at)
    select ${organization.id}, 'rcp_' || lpad(n::text, 8, '0'), ${campaign.id}, ${program.id}, lpad(n::text, 6, 'a'),
      lpad(n::text, 10, '0'), n || '@erased.invalid', now(), now(), now()
    from generate_series(1, 20000) n`
  yield* sql.unsafe(KEY_RECIPIENTS)
  yield* sql`update campaigns set status = 'completed', updated_at = now() - interval '13 months' where id = ${campaign.id}`
  yield* sql.unsafe("vacuum analyze recipients, recipient_keys, campaigns")
  const [blocks, none] = yield* blocksRead("recipients", erasures.findEnded(12, null))
  expect(none).toBeUndefined()
  expect(blocks).toBeLessThan(20)

  yield* sql`update recipients set npi = ${npi(0)}, erased_at = null where id = 'rcp_00010000'`
  yield* sql`update recipient_keys set npi = ${npi(0)} where recipient_id = 'rcp_00010000'`
  const found = { organizationId: organization.id, campaignId: campaign.id }
  expect(yield* erasures.findEnded(12, null)).toEqual(found)
  expect(yield* erasures.findEnded(12, found)).toBeUndefined()
  expect(yield* erasures.findEnded(14, null)).toBeUndefined()
})
