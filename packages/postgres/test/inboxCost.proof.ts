import { type InboundMessage, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { SECRET_ID } from "@outreach/testing/receiveEvent"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { keepStatistics } from "./keepStatistics.ts"

const test = effectTest(runOnDatabase({ maxConnections: 1 }))

test("an event is stored beside many for what it costs beside few, by the plan that was made when there were none", function* () {
  const sql = yield* SqlClient.SqlClient
  const { receive } = yield* InboxRepository
  yield* keepStatistics("inbox")
  const { organization, endpoint } = yield* seedCampaign({ recipients: 0 })
  const message = (eventId: string): InboundMessage => ({
    organizationId: organization.id,
    endpointId: endpoint.id,
    secretId: SECRET_ID,
    eventId,
    type: "clinician.account_created",
    npi: null,
    body: "{}",
    traceparent: null,
  })
  // As often as it takes the database to settle on its plan.
  for (let n = 0; n < 12; n++) yield* receive(message(`evt_${n}`))
  yield* sql`
    insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, body, received_at)
    select ${organization.id}, 'evt_a' || n, ${endpoint.id}, ${SECRET_ID}, 'clinician.account_created', '{}', clock_timestamp()
    from generate_series(1, 20000) n`
  const reads = yield* Effect.forEach(["evt_b", "evt_1", "evt_a777"], (id) => blocksRead("inbox", receive(message(id))))
  expect(reads.map(([, receipt]) => receipt)).toEqual(["stored", "repeated", "repeated"])
  expect(Math.max(...reads.map(([blocks]) => blocks))).toBeLessThan(40)
})
