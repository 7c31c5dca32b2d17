-- The tables of every subject, in the order of the domain's subjects.
-- A tenant's table has organization_id first in its primary key and in every unique constraint.
-- Ids, tokens and other keys have the collation "C": they are compared byte by byte.

-- Organizations

create table organizations (
  id text collate "C" primary key,
  name text not null,
  created_at timestamptz not null default clock_timestamp()
);

-- The newest timestamp that an organization has given to an event or to a change of a row that partners poll.
create table organization_clock (
  organization_id text collate "C" primary key references organizations,
  last timestamptz not null
) with (fillfactor = 50);

create table api_keys (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations,
  name text not null,
  scopes text[] not null,
  hash bytea not null unique,
  prefix text not null,
  last_four text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index api_keys_of_organization on api_keys (organization_id, id);

-- The requests of each key in each window of its rate limit.
-- The table is unlogged: a crash of the server gives every key at most one fresh window.
create unlogged table rate_windows (
  key_id text collate "C" not null,
  window_start bigint not null,
  count integer not null,
  primary key (key_id, window_start)
) with (fillfactor = 50);

-- Programs

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
);

-- Campaigns

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
  per_minute integer check (per_minute > 0),
  short_link text,
  primary key (organization_id, id),
  foreign key (organization_id, program_id) references programs
);
-- The worker looks for the few campaigns that are under way among all that ever were.
create index campaigns_under_way on campaigns (status, window_start)
  where status in ('scheduled', 'publishing', 'published', 'sending');

-- Recipients

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
  withdrawn_at timestamptz,
  withdrawal_reason text check (withdrawal_reason in ('suppressed', 'learner_qualified', 'completer_qualified', 'quota_reached')),
  account_created_at timestamptz,
  primary key (organization_id, id),
  constraint recipients_token unique (organization_id, token),
  constraint recipients_npi unique (organization_id, campaign_id, npi),
  foreign key (organization_id, campaign_id) references campaigns,
  check ((withdrawn_at is null) = (withdrawal_reason is null))
);
create unique index recipients_email on recipients (organization_id, campaign_id, lower(email));
-- Partners pull recipients by update, with and without a campaign: one index for each.
create index recipients_by_update on recipients (organization_id, updated_at, id);
create index recipients_of_campaign_by_update on recipients (organization_id, campaign_id, updated_at, id);
create index recipients_unpublished on recipients (organization_id, campaign_id, id)
  where published_at is null and withdrawn_at is null;
-- A waiting recipient was neither written to nor withdrawn. Inbound events look for them.
create index recipients_waiting_by_npi on recipients (organization_id, program_id, npi)
  where sent_at is null and bounced_at is null and withdrawn_at is null;
create index recipients_waiting_by_email on recipients (organization_id, program_id, lower(email))
  where sent_at is null and bounced_at is null and withdrawn_at is null;

-- Events

-- The log of each organization, in the order of emitted_at and id. Nothing ever updates a row.
-- body is the envelope as it was serialised once.
-- traceparent is the trace that published the event, as W3C Trace Context writes it, or null.
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
  traceparent text,
  primary key (organization_id, id)
);
-- Partners and endpoints read the log in order, of all types or of some.
create index events_log on events (organization_id, emitted_at, id);
create index events_by_type on events (organization_id, type, emitted_at, id);
-- The events of one recipient, without the cost for email_sent, the most frequent type: the recipient's row tells that.
create index events_of_recipient on events (organization_id, recipient_id, emitted_at)
  where type in ('outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked');

-- Deliveries

create table webhook_endpoints (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations,
  url text not null,
  enabled boolean not null default true,
  event_types text[],
  created_at timestamptz not null default clock_timestamp(),
  max_in_flight integer check (max_in_flight > 0)
);
create index webhook_endpoints_of_organization on webhook_endpoints (organization_id, id);

create table signing_secrets (
  id text collate "C" primary key default make_id('sec'),
  organization_id text collate "C" not null references organizations,
  ciphertext bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index signing_secrets_of_organization on signing_secrets (organization_id, id);

-- A worker is alive until alive_until, which is never far ahead of the clock.
-- If it were, a clock that is set back would keep dead workers alive.
create table delivery_workers (
  token uuid primary key,
  alive_until timestamptz not null,
  stopping boolean not null default false
) with (fillfactor = 50);

-- Each endpoint as a reader of its organization's log. owner is the worker that delivers to it.
-- failures, allowance and probe_at are the state of the circuit breaker.
create table endpoint_readers (
  endpoint_id text collate "C" primary key references webhook_endpoints,
  organization_id text collate "C" not null references organizations,
  owner uuid,
  failures integer not null default 0,
  allowance integer,
  probe_at timestamptz
) with (fillfactor = 50);
create index endpoint_readers_of_organization on endpoint_readers (organization_id);

-- How far each reader has come: one row, of which write_positions makes a new generation now and then.
-- Calls may have begun for every event up to begun_at and begun_id. open lists those of them that are not settled.
-- An event that has a row in deliveries counts as settled here.
-- The row is written many times a second, so open stays in it, uncompressed (toast_tuple_target), and no foreign key is checked.
create table reader_positions (
  endpoint_id text collate "C",
  generation bigint default 1,
  begun_at timestamptz not null,
  begun_id text collate "C" not null,
  open text[] not null default '{}',
  intended_at timestamptz,
  updates integer not null default 0,
  primary key (endpoint_id, generation)
) with (
  fillfactor = 50, toast_tuple_target = 8160,
  autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0
);

-- Deliveries that wait for another attempt, or that an operator replays. The others have no row before they are finished.
-- owner is the worker whose call may be in flight; losses counts the workers that were lost with such a call.
-- A row lives for a short time, so vacuum runs by the thousand rows, and not by the share of the table.
create table deliveries (
  organization_id text collate "C" not null,
  id text collate "C" not null default make_id('dlv'),
  endpoint_id text collate "C" not null references webhook_endpoints,
  event_id text collate "C" not null,
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  losses integer not null default 0,
  replay boolean not null default false,
  owner uuid,
  owned_at timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, event_id) references events
) with (
  fillfactor = 70,
  autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_analyze_scale_factor = 0.02
);
create index deliveries_by_id on deliveries (id);
create index deliveries_due on deliveries (endpoint_id, replay, due_at, id) where owner is null;
create index deliveries_lost on deliveries (endpoint_id, due_at, id) where owner is null and losses > 0;
create index deliveries_owned on deliveries (owner) where owner is not null;

-- The attempts of deliveries that still wait. Those of a finished delivery stand in its own row.
create table delivery_attempts (
  organization_id text collate "C" not null,
  delivery_id text collate "C" not null,
  number integer not null,
  started_at timestamptz not null,
  latency_ms integer,
  status integer,
  outcome text not null,
  response text,
  primary key (organization_id, delivery_id, number, started_at)
);

-- One delivery, or many that arrived at their first attempt. A row of many has first_id, and deliveries as JSON.
-- The key begins with the id, because operators look deliveries up by id alone.
-- The workers make a partition for each day; delivered_default holds what fits into none.
create table delivered (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C",
  attempts jsonb,
  created_at timestamptz,
  finished_at timestamptz not null default clock_timestamp(),
  first_id text collate "C",
  deliveries json,
  primary key (id, organization_id, finished_at)
) partition by range (finished_at);
create table delivered_default partition of delivered default;

-- Dead letters are never dropped with a partition: a row leaves only when an operator purges it.
create table dead_letters (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null references webhook_endpoints,
  event_id text collate "C" not null,
  reason text not null check (reason in ('rejected', 'exhausted', 'poison')),
  attempts jsonb not null,
  created_at timestamptz not null,
  finished_at timestamptz not null default clock_timestamp(),
  replayed_as text collate "C",
  primary key (organization_id, id),
  foreign key (organization_id, event_id) references events
);
create index dead_letters_by_id on dead_letters (id);
create index dead_letters_to_replay on dead_letters (finished_at, id) where replayed_as is null;
-- A purge takes replayed dead letters by age.
create index dead_letters_replayed on dead_letters (finished_at, id) where replayed_as is not null;

-- Jobs that replay dead letters, or a range of an endpoint's log.
-- from_at and to_at bound when the dead letters were finished, or when the events were published.
-- after_at and after_id say how far the job has come.
create table replay_jobs (
  id text collate "C" primary key default make_id('rpl'),
  endpoint_id text collate "C",
  event_type text,
  reason text,
  from_at timestamptz,
  to_at timestamptz,
  rate integer not null check (rate > 0),
  total integer not null,
  replayed integer not null default 0,
  after_at timestamptz not null,
  after_id text collate "C" not null default '',
  next_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  cancelled_at timestamptz,
  kind text not null default 'dead_letters' check (kind in ('dead_letters', 'log')),
  organization_id text collate "C",
  event_types text[],
  before_at timestamptz not null
);
create index replay_jobs_under_way on replay_jobs (next_at) where finished_at is null and cancelled_at is null;

-- Inbox

-- Events that partners sent, once for each of their event ids. The body is kept as it was signed.
-- Events are applied in the order of received_at.
-- An event is applied, or quarantined with its reason until it is replayed, or waits.
-- differing counts the repetitions that had another body.
create table inbox (
  organization_id text collate "C" not null references organizations,
  event_id text collate "C" not null,
  endpoint_id text collate "C" not null references webhook_endpoints,
  type text not null,
  npi text collate "C",
  body text not null,
  received_at timestamptz not null,
  applied_at timestamptz,
  quarantined_at timestamptz,
  reason text,
  differing integer not null default 0,
  primary key (organization_id, event_id),
  check ((quarantined_at is null) = (reason is null)),
  check (applied_at is null or quarantined_at is null)
);
create index inbox_to_apply on inbox (organization_id, received_at, event_id)
  where applied_at is null and quarantined_at is null;
create index inbox_quarantined on inbox (organization_id, quarantined_at, event_id) where quarantined_at is not null;
-- The events about one clinician. An event enters the index when it is applied, so that receiving it costs nothing more.
create index inbox_applied_of_clinician on inbox (organization_id, npi, received_at) where applied_at is not null;

-- The stages that clinicians have reached, once for each clinician, program and stage.
create table qualifications (
  organization_id text collate "C" not null,
  program_id text collate "C" not null,
  stage text not null check (stage in ('account_created', 'learner_qualified', 'completer_qualified')),
  npi text collate "C" not null,
  event_id text collate "C" not null,
  counted_at timestamptz not null,
  primary key (organization_id, program_id, stage, npi),
  foreign key (organization_id, program_id) references programs
);

-- Mail

-- E-mails that are still to be sent. A row is deleted once the recipient's row holds the outcome.
-- A quarantined message is due at infinity, so that no search for due messages reads it.
create table messages (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  campaign_id text collate "C" not null,
  attempts integer not null default 0,
  due_at timestamptz not null,
  lease_token uuid,
  lease_until timestamptz,
  unknown_outcomes integer not null default 0,
  quarantined_at timestamptz,
  failure_class text,
  failure_code text,
  primary key (organization_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
) with (fillfactor = 70);
create index messages_due on messages (organization_id, campaign_id, due_at, recipient_id);
create index messages_quarantined on messages (quarantined_at) where quarantined_at is not null;

-- When the next message may go out: of all, of a campaign, to a recipient domain.
-- The table is unlogged: after a crash each scope begins anew, with at most one second's messages too many.
create unlogged table send_rates (
  scope text collate "C" primary key,
  next_at timestamptz not null,
  deferred_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- The recipient domains to which a campaign sends nothing for a while.
create table domain_pauses (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  domain text collate "C" not null,
  status text not null,
  paused_at timestamptz not null default clock_timestamp(),
  until timestamptz not null,
  primary key (organization_id, campaign_id, domain),
  foreign key (organization_id, campaign_id) references campaigns
);

-- Hits

-- Requests for the pixels and links of messages, as they came, and how they were judged.
-- repeats counts the hits that followed within the minute and have no row of their own.
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
  repeats integer not null default 0,
  primary key (organization_id, id),
  foreign key (organization_id, recipient_id) references recipients
);
create index hits_to_judge on hits (organization_id, received_at, id) where judged_at is null;
create index hits_judged on hits (judged_at) where judged_at is not null;
-- A hit is judged by the other hits of its recipient in the seconds before.
create index hits_of_recipient on hits (organization_id, recipient_id, received_at);

-- How often a link was asked for from one address in a clock minute.
-- The table is unlogged: a crash gives at most one fresh minute.
create unlogged table hit_windows (
  window_start timestamptz not null,
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  address text not null,
  link_hash bytea not null,
  hits integer not null,
  primary key (window_start, organization_id, recipient_id, address, link_hash)
);

-- Suppressions

-- The clinicians to whom a program must not write. An e-mail address is kept in lower case, as lower() makes it.
create table suppressions (
  organization_id text collate "C" not null,
  program_id text collate "C" not null,
  kind text not null check (kind in ('npi', 'email')),
  value text collate "C" not null,
  reason text not null check (reason in ('account_created', 'unsubscribed', 'operator')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, program_id, kind, value),
  foreign key (organization_id, program_id) references programs
);

-- Recipients who asked for no more e-mails of a program. The request is stored at once, so that it is never lost.
-- The workers turn it into suppressions.
create table unsubscriptions (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  asked_at timestamptz not null default clock_timestamp(),
  suppressed_at timestamptz,
  primary key (organization_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
);
create index unsubscriptions_to_apply on unsubscriptions (asked_at) where suppressed_at is null;

-- Digest

-- Counts of each program's events by UTC date. The transactions that write the events keep them.
-- The date comes before the program, so that a digest of all programs is one range of the key.
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
) with (fillfactor = 50);

-- The last date on which a recipient counted as unique, by type of event, with and without suspected bots.
create table unique_hits (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  type text not null,
  date date not null,
  unsuspected_date date,
  primary key (organization_id, recipient_id, type)
) with (fillfactor = 90);

-- Counts of the stages that clinicians reached, by UTC date.
-- Dates never go backwards for an organization, so the newest row of a program carries its totals.
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
) with (fillfactor = 50);

-- Idempotency

-- Responses to requests with an Idempotency-Key.
create table idempotency_keys (
  organization_id text collate "C" not null references organizations,
  key text collate "C" not null,
  fingerprint bytea not null,
  status smallint not null,
  headers jsonb not null,
  body text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
