import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Requests for the pixels and links of messages, kept as they came, and what they were judged to be. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table hits (
      organization_id text collate "C" not null,
      id text collate "C" not null,
      recipient_id text collate "C" not null,
      kind text not null check (kind in ('open', 'click')),
      link text check ((link is not null) = (kind = 'click')),
      method text not null,
      address text not null,
      headers jsonb not null,
      received_at timestamptz not null,
      judged_at timestamptz,
      reasons text[] check ((reasons is null) = (judged_at is null)),
      primary key (organization_id, id),
      foreign key (organization_id, recipient_id) references recipients
    )`
  yield* sql`create index hits_to_judge on hits (organization_id, received_at, id) where judged_at is null`
  yield* sql`create index hits_judged on hits (judged_at) where judged_at is not null`
  // The other hits of a recipient in the seconds before.
  yield* sql`create index hits_of_recipient on hits (organization_id, recipient_id, received_at)`
})
