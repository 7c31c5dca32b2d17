import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What requests with an Idempotency-Key were answered. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table idempotency_keys (
      organization_id text collate "C" not null references organizations,
      key text collate "C" not null,
      fingerprint bytea not null,
      status smallint not null,
      headers jsonb not null,
      body text,
      created_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, key)
    )`
  yield* sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`
})
