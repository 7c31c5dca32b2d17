import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The e-mails that are still to be sent; a row goes when the recipient's own row says what became of it. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table messages (
      organization_id text collate "C" not null,
      recipient_id text collate "C" not null,
      campaign_id text collate "C" not null,
      attempts integer not null default 0,
      due_at timestamptz not null,
      lease_token uuid,
      lease_until timestamptz,
      primary key (organization_id, recipient_id),
      foreign key (organization_id, recipient_id) references recipients
    ) with (fillfactor = 70)`
  yield* sql`create index messages_due on messages (organization_id, campaign_id, due_at, recipient_id)`
})
