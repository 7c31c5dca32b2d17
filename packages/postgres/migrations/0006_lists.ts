import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What the lists that partners pull are read from: one index for each order and filter. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`create index recipients_of_campaign_by_update on recipients (organization_id, campaign_id, updated_at, id)`
  yield* sql`create index events_by_type on events (organization_id, type, emitted_at, id)`
})
