import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What inbound events say of clinicians, counted once per clinician, program and stage; and the events that could not be applied. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table qualifications (
      organization_id text collate "C" not null,
      program_id text collate "C" not null,
      stage text not null check (stage in ('account_created', 'learner_qualified', 'completer_qualified')),
      npi text collate "C" not null,
      event_id text collate "C" not null,
      counted_at timestamptz not null,
      primary key (organization_id, program_id, stage, npi),
      foreign key (organization_id, program_id) references programs (organization_id, id)
    )`

  // The newest row of the totals says whether the completers have come to the program's target.
  yield* sql`
    create function quota_reached(organization text, program text) returns boolean language sql stable as $$
      select coalesce((
        select completer_reached_at is not null from digest_funnel
        where organization_id = organization and program_id = program order by date desc limit 1
      ), false)
    $$`

  // For an import: by suppression, or because the clinician has qualified.
  yield* sql`
    create function must_not_write_to(organization text, program text, given_npi text, given_email text)
      returns boolean language sql stable as $$
      select exists (
          select from suppressions
          where organization_id = organization and program_id = program and kind = 'npi' and value = given_npi
        ) or exists (
          select from suppressions
          where organization_id = organization and program_id = program and kind = 'email' and value = lower(given_email)
        ) or exists (
          select from qualifications
          where organization_id = organization and program_id = program and npi = given_npi
            and stage in ('learner_qualified', 'completer_qualified')
        )
    $$`

  // An event is applied, or set aside with its reason until it is replayed, or waits. `differing` counts the repetitions with another body.
  yield* sql`
    alter table inbox
      add set_aside_at timestamptz,
      add reason text,
      add differing integer not null default 0,
      add check ((set_aside_at is null) = (reason is null)),
      add check (applied_at is null or set_aside_at is null)`
  yield* sql`drop index inbox_to_apply`
  yield* sql`
    create index inbox_to_apply on inbox (organization_id, received_at, event_id)
      where applied_at is null and set_aside_at is null`
  yield* sql`
    create index inbox_set_aside on inbox (organization_id, set_aside_at, event_id) where set_aside_at is not null`
})
