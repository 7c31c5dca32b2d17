import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Whom a program must not write to, and the recipients who were withdrawn before they were written to. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // An e-mail address is kept in lower case, as lower() has it.
  yield* sql`
    create table suppressions (
      organization_id text collate "C" not null,
      program_id text collate "C" not null,
      kind text not null check (kind in ('npi', 'email')),
      value text collate "C" not null,
      reason text not null check (reason in ('account_created', 'unsubscribed', 'operator')),
      created_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, program_id, kind, value),
      foreign key (organization_id, program_id) references programs (organization_id, id)
    )`

  yield* sql`
    alter table recipients
      add withdrawn_at timestamptz,
      add withdrawn_for text
        check (withdrawn_for in ('suppressed', 'learner_qualified', 'completer_qualified', 'quota_reached')),
      add account_created_at timestamptz,
      add check ((withdrawn_at is null) = (withdrawn_for is null))`

  // Waiting: neither written to nor withdrawn. These are what an inbound event looks for.
  yield* sql`
    create index recipients_waiting_by_npi on recipients (organization_id, program_id, npi)
      where sent_at is null and bounced_at is null and withdrawn_at is null`
  yield* sql`
    create index recipients_waiting_by_email on recipients (organization_id, program_id, lower(email))
      where sent_at is null and bounced_at is null and withdrawn_at is null`
  yield* sql`drop index recipients_unpublished`
  yield* sql`
    create index recipients_unpublished on recipients (organization_id, campaign_id, id)
      where published_at is null and withdrawn_at is null`
})
