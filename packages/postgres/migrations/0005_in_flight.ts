import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** How many deliveries of an endpoint are leased; volatile, so that it counts what was committed after the asking statement began. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create function in_flight(endpoint text) returns bigint language sql volatile as $$
      select count(*) from deliveries where endpoint_id = endpoint and lease_until >= clock_timestamp()
    $$`
})
