import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What partners send, once for each of their event ids. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // The body is kept as it was signed; received_at is the order in which it is applied.
  yield* sql`
    create table inbox (
      organization_id text collate "C" not null references organizations,
      event_id text collate "C" not null,
      endpoint_id text collate "C" not null references webhook_endpoints,
      type text not null,
      npi text collate "C",
      body text not null,
      received_at timestamptz not null,
      applied_at timestamptz,
      primary key (organization_id, event_id)
    )`
  yield* sql`create index inbox_to_apply on inbox (received_at, event_id) where applied_at is null`
})
