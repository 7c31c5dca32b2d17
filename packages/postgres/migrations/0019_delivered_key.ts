import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** One index on what was delivered instead of two: the key begins with the id, by which it is looked up. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`alter table delivered drop constraint delivered_pkey`
  yield* sql`drop index delivered_by_id`
  yield* sql`alter table delivered add primary key (id, organization_id, finished_at)`
})
