import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Partner-bound programs, their campaigns and the recipients. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table programs (
      organization_id text collate "C" not null references organizations,
      id text collate "C" not null,
      slug text not null,
      name text not null,
      status text not null default 'active' check (status in ('draft', 'active', 'paused', 'archived')),
      learner_target integer check (learner_target > 0),
      completer_target integer check (completer_target > 0),
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, id),
      constraint programs_slug unique (organization_id, slug)
    )`

  yield* sql`
    create table campaigns (
      organization_id text collate "C" not null,
      id text collate "C" not null,
      program_id text collate "C" not null,
      name text not null,
      kind text not null check (kind in ('traffic', 'survey')),
      status text not null default 'draft' check (status in
        ('draft', 'scheduled', 'publishing', 'published', 'sending', 'completed', 'paused', 'cancelled')),
      subject text not null,
      html text not null,
      window_start timestamptz not null,
      window_end timestamptz not null check (window_end > window_start),
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, id),
      foreign key (organization_id, program_id) references programs
    )`
  // The worker looks for the few campaigns that are under way among all that ever were.
  yield* sql`
    create index campaigns_under_way on campaigns (status, window_start)
    where status in ('scheduled', 'publishing', 'published', 'sending')`

  yield* sql`
    create table recipients (
      organization_id text collate "C" not null,
      id text collate "C" not null,
      campaign_id text collate "C" not null,
      program_id text collate "C" not null,
      token text collate "C" not null check (token ~ '^[0-9A-Za-z]{6}$'),
      npi text collate "C" not null check (npi ~ '^[0-9]{10}$'),
      email text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      published_at timestamptz,
      sent_at timestamptz,
      bounced_at timestamptz,
      last_event_at timestamptz,
      primary key (organization_id, id),
      constraint recipients_token unique (organization_id, token),
      constraint recipients_npi unique (organization_id, campaign_id, npi),
      foreign key (organization_id, campaign_id) references campaigns
    )`
  yield* sql`create unique index recipients_email on recipients (organization_id, campaign_id, lower(email))`
  yield* sql`create index recipients_by_update on recipients (organization_id, updated_at, id)`
  yield* sql`
    create index recipients_unpublished on recipients (organization_id, campaign_id, id)
    where published_at is null`
})
