import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Events, the endpoints they go to, and the deliveries on their way. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  yield* sql`
    create table webhook_endpoints (
      id text collate "C" primary key,
      organization_id text collate "C" not null references organizations,
      url text not null,
      enabled boolean not null default true,
      event_types text[],
      created_at timestamptz not null default clock_timestamp()
    )`
  yield* sql`create index webhook_endpoints_of_organization on webhook_endpoints (organization_id, id)`

  yield* sql`
    create table signing_secrets (
      id text collate "C" primary key default make_id('sec'),
      organization_id text collate "C" not null references organizations,
      ciphertext bytea not null,
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz
    )`
  yield* sql`create index signing_secrets_of_organization on signing_secrets (organization_id, id)`

  // body is the envelope as it was serialised once; nothing ever updates a row.
  yield* sql`
    create table events (
      organization_id text collate "C" not null references organizations,
      id text collate "C" not null,
      type text not null,
      campaign_id text collate "C" not null,
      program_id text collate "C" not null,
      recipient_id text collate "C",
      occurred_at timestamptz not null,
      emitted_at timestamptz not null,
      body text not null,
      primary key (organization_id, id)
    )`
  yield* sql`
    create index events_feed on events (organization_id, emitted_at, id)
    where type in ('outreach.email_sent', 'outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked')`

  // Only what waits for an attempt: thin, and hot, so free space is kept for updates in place.
  yield* sql`
    create table deliveries (
      organization_id text collate "C" not null,
      id text collate "C" not null default make_id('dlv'),
      endpoint_id text collate "C" not null references webhook_endpoints,
      event_id text collate "C" not null,
      attempts integer not null default 0,
      due_at timestamptz not null,
      lease_token uuid,
      lease_until timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, id),
      foreign key (organization_id, event_id) references events
    ) with (fillfactor = 70)`
  yield* sql`create index deliveries_due on deliveries (endpoint_id, due_at, id)`
  yield* sql`create index deliveries_leased on deliveries (endpoint_id) where lease_until is not null`

  // The dead letters are the rows that were rejected or exhausted and have not been replayed.
  yield* sql`
    create table finished_deliveries (
      organization_id text collate "C" not null,
      id text collate "C" not null,
      endpoint_id text collate "C" not null references webhook_endpoints,
      event_id text collate "C" not null,
      state text not null check (state in ('delivered', 'rejected', 'exhausted')),
      attempts integer not null,
      created_at timestamptz not null,
      finished_at timestamptz not null default clock_timestamp(),
      replayed_as text collate "C",
      primary key (organization_id, id),
      foreign key (organization_id, event_id) references events
    )`
  yield* sql`
    create index dead_letters on finished_deliveries (finished_at, id)
    where state in ('rejected', 'exhausted') and replayed_as is null`
  yield* sql`create index finished_deliveries_by_id on finished_deliveries (id)`

  yield* sql`
    create table delivery_attempts (
      organization_id text collate "C" not null,
      delivery_id text collate "C" not null,
      number integer not null,
      started_at timestamptz not null,
      latency_ms integer not null,
      status integer,
      outcome text not null,
      response text,
      primary key (organization_id, delivery_id, number)
    )`
})
