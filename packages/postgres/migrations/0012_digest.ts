import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What the digest is read from: counts by program and UTC date, kept by the transactions that write what they count. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // What the events of the date say. The date before the program, so that a digest of all programs is one range of the key.
  yield* sql`
    create table digest_outreach (
      organization_id text collate "C" not null,
      program_id text collate "C" not null,
      date date not null,
      recipients_published integer not null default 0,
      sent integer not null default 0,
      bounced integer not null default 0,
      opened integer not null default 0,
      clicked integer not null default 0,
      unique_opened integer not null default 0,
      unique_clicked integer not null default 0,
      unsuspected_opened integer not null default 0,
      unsuspected_clicked integer not null default 0,
      unsuspected_unique_opened integer not null default 0,
      unsuspected_unique_clicked integer not null default 0,
      primary key (organization_id, date, program_id),
      foreign key (organization_id, program_id) references programs
    ) with (fillfactor = 50)`

  // The last date on which a recipient counted as unique, by type of event: with and without suspected bots.
  yield* sql`
    create table digest_marks (
      organization_id text collate "C" not null,
      recipient_id text collate "C" not null,
      type text not null,
      date date not null,
      unsuspected_date date,
      primary key (organization_id, recipient_id, type)
    ) with (fillfactor = 90)`

  // Dates never go backwards for an organization, so its newest row carries the totals on.
  yield* sql`
    create table digest_funnel (
      organization_id text collate "C" not null,
      program_id text collate "C" not null,
      date date not null,
      account_created integer not null,
      learner_qualified integer not null,
      completer_qualified integer not null,
      account_created_total integer not null,
      learner_qualified_total integer not null,
      completer_qualified_total integer not null,
      learner_reached_at timestamptz,
      completer_reached_at timestamptz,
      primary key (organization_id, program_id, date),
      foreign key (organization_id, program_id) references programs
    ) with (fillfactor = 50)`

  // What was published before; nobody's qualification was counted yet.
  yield* sql`set local statement_timeout = 0`
  yield* sql`
    with hit as (
      select organization_id, program_id, (emitted_at at time zone 'UTC')::date as date, type, recipient_id,
        coalesce((body::jsonb->'data'->>'is_bot_suspected')::boolean, false) as suspected,
        case when type = 'outreach.recipients_published' then jsonb_array_length(body::jsonb->'data'->'recipients') else 0 end as recipients
      from events
    )
    insert into digest_outreach
    select organization_id, program_id, date, sum(recipients),
      count(*) filter (where type = 'outreach.email_sent'),
      count(*) filter (where type = 'outreach.email_bounced'),
      count(*) filter (where type = 'outreach.email_opened'),
      count(*) filter (where type = 'outreach.email_clicked'),
      count(distinct recipient_id) filter (where type = 'outreach.email_opened'),
      count(distinct recipient_id) filter (where type = 'outreach.email_clicked'),
      count(*) filter (where type = 'outreach.email_opened' and not suspected),
      count(*) filter (where type = 'outreach.email_clicked' and not suspected),
      count(distinct recipient_id) filter (where type = 'outreach.email_opened' and not suspected),
      count(distinct recipient_id) filter (where type = 'outreach.email_clicked' and not suspected)
    from hit group by organization_id, program_id, date`
  yield* sql`
    insert into digest_marks
    select organization_id, recipient_id, type, max((emitted_at at time zone 'UTC')::date),
      max((emitted_at at time zone 'UTC')::date) filter (where not (body::jsonb->'data'->>'is_bot_suspected')::boolean)
    from events where type in ('outreach.email_opened', 'outreach.email_clicked') and recipient_id is not null
    group by organization_id, recipient_id, type`
})
