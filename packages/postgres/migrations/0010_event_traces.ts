import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The trace that published an event, for the spans of its attempts to link to. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // As W3C Trace Context writes it; null for what was published before, or untraced.
  yield* sql`alter table events add column traceparent text`
})
