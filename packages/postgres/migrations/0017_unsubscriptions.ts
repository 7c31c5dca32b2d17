import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Who asked to get no more of a program's e-mails; kept at once, so that it is never lost, and turned into suppressions by the workers. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table unsubscriptions (
      organization_id text collate "C" not null,
      recipient_id text collate "C" not null,
      asked_at timestamptz not null default clock_timestamp(),
      suppressed_at timestamptz,
      primary key (organization_id, recipient_id),
      foreign key (organization_id, recipient_id) references recipients
    )`
  yield* sql`create index unsubscriptions_to_apply on unsubscriptions (asked_at) where suppressed_at is null`
})
