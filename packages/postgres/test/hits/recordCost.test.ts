import { randomUUID } from "node:crypto"
import type { RecipientId } from "@outreach/domain/Identifier"
import { recordHits } from "@outreach/testing/recordHits"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { column, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { expect } from "vitest"
import { blocksRead } from "../blocksRead.ts"
import { keepStatistics } from "../keepStatistics.ts"

const { test } = testsOnDatabase({ maxConnections: 1 })

test("a hit costs the same with many stored hits as with none, also with a plan for an empty table", function* () {
  yield* keepStatistics("hits")
  const { organization } = yield* seedCampaign({ recipients: 2 })
  const [first, second] = yield* column<RecipientId>`select id from recipients order by id`
  const record = Effect.suspend(() =>
    recordHits({ organizationId: organization.id, recipientId: first!, address: randomUUID() }),
  )
  yield* sql`set plan_cache_mode = force_generic_plan`
  yield* record
  yield* sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at)
    select ${organization.id}, 'hit_' || lpad(to_hex(n), 32, '0'), ${second!}, 'open', 'GET', 'a', '{}', now()
    from generate_series(1, 5000) n`
  const [blocks] = yield* blocksRead("hits", record)
  expect(blocks).toBeLessThan(40)
})
