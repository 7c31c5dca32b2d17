-- The tables by subject, in the order of docs/flows.md.
-- A tenant's table has organization_id first in its primary key and in every unique constraint, except for look-ups by id only.
-- Ids, tokens and other keys have the collation "C": they are compared byte by byte.
-- Functions are in sql/functions, and the rights on tables in src/roles/grants.ts.

-- Organizations

-- With self_service, the partner's admins manage endpoints, contacts, secrets and keys themselves.
create table organizations (
  id text collate "C" primary key,
  name text not null,
  contacts text[] not null default '{}' check (cardinality(contacts) <= 10),
  self_service boolean not null default true,
  max_endpoints integer not null default 20 check (max_endpoints between 0 and 10000),
  created_at timestamptz not null default clock_timestamp()
);

-- The newest timestamp of an organization for an event or a change of a row that partners poll.
-- server_started_at and identity are those of the timestamp's server. The first stamp on another server is after all possible stamps of the lost
-- server; fenced_at is that stamp: docs/decisions/0004-timestamps-jump-ahead-after-a-failover.md.
-- identity is null if the server hides its own.
-- The latest restore found the clock at restored_at, and moved it to restore_fenced_at.
create table organization_clock (
  organization_id text collate "C" primary key references organizations,
  last timestamptz not null,
  server_started_at timestamptz,
  identity text,
  fenced_at timestamptz,
  restored_at timestamptz,
  restore_fenced_at timestamptz
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

-- Requests of each key by window of its rate limit. Unlogged: a crash of the server gives every key at most one fresh window.
create unlogged table rate_windows (
  key_id text collate "C" not null,
  window_start bigint not null,
  count integer not null,
  primary key (key_id, window_start)
) with (fillfactor = 50);

-- Programs

-- Each e-mail of a program shows sender_name and postal_address, so a campaign needs a program with both.
create table programs (
  organization_id text collate "C" not null references organizations,
  id text collate "C" not null,
  slug text not null,
  name text not null,
  sender_name text,
  postal_address text,
  status text not null default 'active' check (status in ('draft', 'active', 'paused', 'archived')),
  learner_target integer check (learner_target > 0),
  completer_target integer check (completer_target > 0),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, id),
  constraint programs_slug unique (organization_id, slug)
);

-- An organization's domains, below which its links are served after verification, or until verifying_until. A domain belongs to one
-- organization, and outlives its sender: docs/decisions/0014-a-link-domain-outlives-its-sender.md.
create table link_domains (
  organization_id text collate "C" not null references organizations,
  domain text collate "C" not null unique,
  created_at timestamptz not null default clock_timestamp(),
  verifying_until timestamptz,
  verified_at timestamptz,
  primary key (organization_id, domain)
);

-- The From addresses of an organization or one of its programs.
-- A row without program_id belongs to the organization; a program's has priority. A sender isn't used before live_since.
-- Without bounce_domain, bounces go to the deployment's; without a verified link_domain, links use PUBLIC_BASE_URL.
-- ramp has the limits of the first UTC days, for a warm-up. Days without e-mails don't count.
-- ramp_sent counts the messages of the UTC day ramp_counted_on, which is day ramp_day_number of the ramp.
-- The counts change with each claim. No index has them, so the free space of a page keeps these updates HOT.
create table senders (
  organization_id text collate "C" not null references organizations,
  id text collate "C" not null,
  program_id text collate "C",
  from_name text not null,
  from_address text not null,
  reply_to text,
  dkim_domain text not null,
  bounce_domain text,
  link_domain text collate "C",
  live_since timestamptz,
  ramp integer[],
  ramp_day_number integer not null default 1,
  ramp_counted_on date not null default '-infinity',
  ramp_sent integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, id),
  foreign key (organization_id, program_id) references programs,
  foreign key (organization_id, link_domain) references link_domains
) with (fillfactor = 50);
create unique index senders_of_program on senders (organization_id, coalesce(program_id, ''));

-- A key signs from signs_from on, and is pending before; the next key sets signs_until.
-- public_key is SPKI in base64, as in the DKIM record. The private key is encrypted like signing secrets.
create table dkim_keys (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  sender_id text collate "C" not null,
  selector text not null,
  public_key text not null,
  ciphertext bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  signs_from timestamptz,
  signs_until timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, sender_id) references senders on delete cascade
);
create unique index dkim_keys_of_sender on dkim_keys (organization_id, sender_id, selector);

-- Campaigns

-- text is the campaign's own text part; null if it is made from the HTML. fields may be used in the templates.
-- With pause_on_complaints, a worker pauses the campaign if more than complaints_accepted recipients have complained, and their share is too high.
-- complaints_accepted is the number of complaints when an operator last resumed it.
-- status_before_restore is its status before the latest restore paused it.
create table campaigns (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  program_id text collate "C" not null,
  name text not null,
  kind text not null check (kind in ('traffic', 'survey')),
  status text not null default 'draft' check (status in
    ('draft', 'scheduled', 'publishing', 'published', 'sending', 'completed', 'paused', 'cancelled')),
  subject text not null,
  preheader text,
  html text not null,
  text text,
  fields text[] not null default '{}',
  short_link text,
  per_minute integer check (per_minute > 0),
  window_start timestamptz not null,
  window_end timestamptz not null check (window_end > window_start),
  pause_on_complaints boolean not null default false,
  stopped_at timestamptz,
  stopped_by text,
  stop_reason text,
  complaints_accepted integer not null default 0,
  status_before_restore text,
  edited_at timestamptz not null default clock_timestamp(),
  tested_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, id),
  foreign key (organization_id, program_id) references programs
);
-- The worker searches for the few running campaigns among all.
create index campaigns_under_way on campaigns (status, window_start)
  where status in ('scheduled', 'publishing', 'published', 'sending');

-- Recipients

-- The columns that lists show and outcomes change. The keys of look-ups, which don't change, are in recipient_keys:
-- docs/decisions/0022-the-keys-of-a-recipient-are-in-a-separate-table.md.
-- opened_on and clicked_on are the last dates on which a recipient counted as unique, with and without suspected bots.
create table recipients (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  campaign_id text collate "C" not null,
  program_id text collate "C" not null,
  token text collate "C" not null,
  npi text collate "C" not null,
  email text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  published_at timestamptz,
  sent_at timestamptz,
  bounced_at timestamptz,
  last_event_at timestamptz,
  withdrawn_at timestamptz,
  withdrawal_reason text
    check (withdrawal_reason in ('suppressed', 'learner_qualified', 'completer_qualified', 'quota_reached')),
  account_created_at timestamptz,
  erased_at timestamptz,
  opened_on date,
  unsuspected_opened_on date,
  clicked_on date,
  unsuspected_clicked_on date,
  primary key (organization_id, id),
  foreign key (organization_id, campaign_id) references campaigns,
  check ((withdrawn_at is null) = (withdrawal_reason is null))
);
-- Partners pull recipients by update, with and without a campaign: one index for each.
create index recipients_by_update on recipients (organization_id, updated_at, id);
create index recipients_of_campaign_by_update on recipients (organization_id, campaign_id, updated_at, id);
-- Operators list these few recipients.
create index recipients_bounced on recipients (organization_id, campaign_id, bounced_at, id) where bounced_at is not null;
create index recipients_withdrawn on recipients (organization_id, campaign_id, withdrawn_at, id) where withdrawn_at is not null;
-- A waiting recipient has no e-mail and wasn't withdrawn. Unpublished ones are together.
create index recipients_waiting on recipients (organization_id, campaign_id, published_at, id)
  where withdrawn_at is null and (published_at is null or (sent_at is null and bounced_at is null));

-- The keys of a recipient's look-ups, written at the import and by an erasure. The e-mail address is in lower case by lower().
create table recipient_keys (
  organization_id text collate "C" not null,
  token text collate "C" not null check (token ~ '^[0-9A-Za-z]{6}$'),
  campaign_id text collate "C" not null,
  npi text collate "C" not null check (npi ~ '^[0-9]{10}$'),
  email text collate "C" not null,
  recipient_id text collate "C" not null,
  primary key (organization_id, token),
  constraint recipient_keys_npi unique (organization_id, campaign_id, npi),
  constraint recipient_keys_email unique (organization_id, campaign_id, email),
  foreign key (organization_id, recipient_id) references recipients
);

-- The template fields of each recipient, written at the import, and read when its message is sent. Each outcome would rewrite them in recipients.
create table recipient_fields (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  fields jsonb not null,
  primary key (organization_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
);

-- Counts of campaigns: the number of recipients by state (docs/decisions/0023-the-statement-that-changes-rows-also-counts-them.md)

-- A row for each campaign and UTC hour: -infinity for counts without an hour, such as queued.
-- answered are sent or bounced. opened and clicked count recipients; the unsuspected ones exclude suspected bots.
-- accounts, learners and completers are recipients who reached the stage after the e-mail.
-- refused_later counts messages that a server accepted and a report refused; complained and unsubscribed count recipients. A revoked
-- unsubscription is subtracted in its hour.
create table campaign_counts (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  hour timestamptz not null default '-infinity',
  recipients integer not null default 0,
  published integer not null default 0,
  withdrawn integer not null default 0,
  sent integer not null default 0,
  bounced integer not null default 0,
  answered integer not null default 0,
  queued integer not null default 0,
  deferred integer not null default 0,
  unknown integer not null default 0,
  quarantined integer not null default 0,
  opened integer not null default 0,
  clicked integer not null default 0,
  unsuspected_opened integer not null default 0,
  unsuspected_clicked integer not null default 0,
  accounts integer not null default 0,
  learners integer not null default 0,
  completers integer not null default 0,
  refused_later integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  primary key (organization_id, campaign_id, hour),
  foreign key (organization_id, campaign_id) references campaigns
) with (fillfactor = 50);
-- For all campaigns together: packages/backoffice/src/numbers/NumbersReader.ts.
create index campaign_counts_by_hour on campaign_counts (hour);

-- The changes of each statement, until the worker adds them to campaign_counts. A separate row, so that no transaction waits for another.
-- No foreign key: nearly every mail transaction writes a row, which is deleted within seconds.
create table campaign_count_changes (
  like campaign_counts including defaults,
  id uuid not null default gen_random_uuid(),
  primary key (organization_id, campaign_id, id)
) with (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- Outcomes by recipient domain. A message may be deferred and refused several times; each reply counts.
-- cleanSmtpReply removes addresses from last_reply.
-- Until paused_until, the campaign sends no e-mails to the domain, because of a rejection with pause_status.
-- size grows with the outcomes, mainly with refusals, which operators look for. It rarely changes, so that its index is rarely written.
create table campaign_domains (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  domain text collate "C" not null,
  sent integer not null default 0,
  deferred integer not null default 0,
  refused integer not null default 0,
  mailbox_not_found integer not null default 0,
  mailbox_disabled integer not null default 0,
  domain_not_found integer not null default 0,
  address_invalid integer not null default 0,
  other integer not null default 0,
  last_reply text,
  last_reply_at timestamptz,
  pause_status text,
  paused_until timestamptz,
  size integer not null generated always as (floor(ln(1 + sent + 10::double precision * (deferred + refused)
    + 10 * (mailbox_not_found + mailbox_disabled + domain_not_found + address_invalid + other)) * 2)::integer) stored,
  primary key (organization_id, campaign_id, domain),
  foreign key (organization_id, campaign_id) references campaigns
) with (fillfactor = 50);
create index campaign_domains_by_size on campaign_domains (organization_id, campaign_id, size);
create index campaign_domains_paused on campaign_domains (paused_until) where paused_until is not null;
create index campaign_domains_bounced on campaign_domains (organization_id, domain)
  where mailbox_not_found + mailbox_disabled + domain_not_found + address_invalid + other > 0;

-- Events

-- Each organization's log, in the order of emitted_at and id. Rows never change, except that an erasure changes the body.
-- body is the envelope as serialized once.
-- Without a foreign key, because its check costs 2 % of an e-mail. The writer has locked the organization's clock, and organizations are never deleted.
-- traceparent is the trace of the event's publication in the format of W3C Trace Context, or null.
-- A partition for each UTC month: docs/decisions/0024-the-events-table-has-monthly-partitions-and-no-default-partition.md. events_later takes all rows without a
-- month, even with a wrong clock. With a default partition, the log could not be read in order, partition by partition.
create table events (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  campaign_id text collate "C" not null,
  program_id text collate "C" not null,
  recipient_id text collate "C",
  occurred_at timestamptz not null,
  emitted_at timestamptz not null,
  body text not null,
  traceparent text,
  primary key (organization_id, id, emitted_at)
) partition by range (emitted_at);
create table events_later partition of events for values from (minvalue) to (maxvalue);
-- Partners and endpoints read the log in order, of all types or of some.
create index events_log on events (organization_id, emitted_at, id);
create index events_by_type on events (organization_id, type, emitted_at, id);
-- The events of one recipient, except email_sent, the most frequent type, which the recipient's row shows.
create index events_of_recipient on events (organization_id, recipient_id, emitted_at)
  where type in ('outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked');

-- Deliveries

-- version counts the changes of an endpoint and of its signing secrets: docs/decisions/0007-calls-use-the-endpoints-settings-at-the-time-they-start.md.
-- address_since is the time of its current address. Earlier calls don't count against its limit.
-- A delivery with a status of retry_statuses is tried again, and Retry-After is respected. retry_delays are in seconds; null is the deployment's schedule.
-- With standard_webhooks, webhooks have the headers of Standard Webhooks, too: docs/decisions/0009-one-signing-secret-has-two-hmac-keys.md.
-- headers are the names of its additional headers. endpoint_headers has their values.
-- The organization's secrets sign for an endpoint until shared_secrets_until, which is '-infinity' for one created with its own secrets.
-- A removed endpoint keeps its row until its history is deleted.
create table webhook_endpoints (
  id text collate "C" primary key,
  organization_id text collate "C" not null references organizations,
  url text not null,
  enabled boolean not null default true,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('operator', 'gone', 'failing')),
  event_types text[],
  max_in_flight integer check (max_in_flight > 0),
  per_second integer check (per_second > 0),
  retry_statuses integer[] not null default '{}'
    check (cardinality(retry_statuses) <= 32 and 400 <= all (retry_statuses) and 599 >= all (retry_statuses)),
  retry_delays integer[]
    check (cardinality(retry_delays) >= 1 and cardinality(retry_delays) <= 19 and 1 <= all (retry_delays) and 604800 >= all (retry_delays)),
  disable_on_gone boolean not null default false,
  disable_when_failing boolean not null default true,
  standard_webhooks boolean not null default false,
  headers text[] not null default '{}' check (cardinality(headers) <= 10),
  shared_secrets_until timestamptz not null default 'infinity',
  version integer not null default 1,
  address_since timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  check (removed_at is null or not enabled)
);
create index webhook_endpoints_removed on webhook_endpoints (removed_at) where removed_at is not null;
create index webhook_endpoints_of_organization on webhook_endpoints (organization_id, id);
create trigger raise_version before update on webhook_endpoints for each row
  when (old.* is distinct from new.*) execute function raise_version();

-- The encrypted headers of endpoints that have some. Separate, so that encrypting them again isn't a change of the endpoint.
create table endpoint_headers (
  endpoint_id text collate "C" primary key references webhook_endpoints,
  organization_id text collate "C" not null references organizations,
  ciphertext bytea not null
);

-- A secret with endpoint_id signs only for that endpoint; the others sign for the organization's endpoints without own secrets.
-- ciphertext is null after the endpoint's removal. An operator finds a leaked secret by hash, the SHA-256 of its text.
-- It last verified a partner's webhook at last_verified_at.
create table signing_secrets (
  id text collate "C" primary key default make_id('sec'),
  organization_id text collate "C" not null references organizations,
  endpoint_id text collate "C" references webhook_endpoints,
  ciphertext bytea,
  hash bytea,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  last_verified_at timestamptz
);
create index signing_secrets_by_hash on signing_secrets (hash);
create index signing_secrets_of_endpoint on signing_secrets (organization_id, endpoint_id);
create trigger raise_endpoint_versions_insert after insert on signing_secrets for each row execute function raise_endpoint_versions();
create trigger raise_endpoint_versions_update after update of expires_at on signing_secrets for each row
  when (old.expires_at is distinct from new.expires_at) execute function raise_endpoint_versions();

-- A worker is alive until alive_until, which is never far ahead of the clock.
-- Otherwise a clock that is set back would keep dead workers alive.
-- process names its process, so that a new one on the same host knows that it has ended; null if that can't be known.
create table delivery_workers (
  token uuid primary key,
  alive_until timestamptz not null,
  stopping boolean not null default false,
  process text
) with (fillfactor = 50);

-- Each endpoint as a reader of its organization's log. owner is its current worker.
-- failures, allowance and probe_at are the state of the circuit breaker.
-- failing_since is the first failure since the last success, at most five minutes early for an older cause: docs/decisions/0011-an-endpoint-is-disabled-only-after-two-notices-arrived.md.
-- judged_since is the time from which failures count: its creation, activation or new address.
-- notices counts its organization's notices, noticed_at is the time of the last one, and notice_to lists the contacts that haven't received it yet.
create table endpoint_readers (
  endpoint_id text collate "C" primary key references webhook_endpoints,
  organization_id text collate "C" not null references organizations,
  owner uuid,
  failures integer not null default 0,
  allowance integer,
  probe_at timestamptz,
  failing_since timestamptz,
  judged_since timestamptz not null default clock_timestamp(),
  notices integer not null default 0,
  noticed_at timestamptz,
  notice_to text[] not null default '{}',
  notice_due_at timestamptz
) with (fillfactor = 50);
create index endpoint_readers_of_organization on endpoint_readers (organization_id, endpoint_id);

-- The position of each reader: one row, which update_positions replaces by a new generation from time to time.
-- Calls may have started for every event up to begun_at and begun_id. open lists those that aren't settled.
-- An event with a row in deliveries counts as settled here.
-- The row is written many times a second, so open stays in it, uncompressed (toast_tuple_target), and there is no foreign key.
create table reader_positions (
  endpoint_id text collate "C",
  generation bigint default 1,
  organization_id text collate "C",
  begun_at timestamptz not null,
  begun_id text collate "C" not null,
  open text[] not null default '{}',
  intended_at timestamptz,
  updates integer not null default 0,
  primary key (endpoint_id, generation, organization_id)
) with (
  fillfactor = 50, toast_tuple_target = 8160,
  autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0
);

-- Deliveries that wait for another attempt, or that an operator replays. All others have no row before they are finished.
-- owner is the worker with a possible call in flight; losses counts the workers that were lost during a call. group_id is the failure group of
-- the last failed attempt.
-- Rows are short-lived, so vacuum runs by thousands of rows, not by the share of the table.
-- No foreign key to the event: an id isn't a key of the log's partitions. keep_partitions drops no event that a delivery needs.
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
  group_id text collate "C",
  owner uuid,
  owned_at timestamptz,
  primary key (organization_id, id)
) with (
  fillfactor = 70,
  autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_threshold = 5000, autovacuum_analyze_scale_factor = 0.02
);
create index deliveries_by_id on deliveries (id);
create index deliveries_due on deliveries (endpoint_id, replay, due_at, id) where owner is null;
create index deliveries_lost on deliveries (endpoint_id, due_at, id) where owner is null and losses > 0;
create index deliveries_owned on deliveries (owner) where owner is not null;

-- The attempts of waiting deliveries. Those of a finished delivery are in its row.
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
-- cancelled is true for one that waited when its endpoint was removed, otherwise null.
-- A partition for each UTC day. The key starts with the id, because operators look up deliveries by id only.
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
  cancelled boolean,
  primary key (id, organization_id, finished_at)
) partition by range (finished_at);
create table delivered_default partition of delivered default;

-- Dead letters are never dropped with a partition: only an operator's purge deletes them.
-- replayed_as is '' if the endpoint was removed before a replay.
-- No foreign key to the group, which count_failures creates after the row, or to the event, as in deliveries.
create table dead_letters (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null references webhook_endpoints,
  event_id text collate "C" not null,
  reason text not null check (reason in ('rejected', 'exhausted', 'poison')),
  attempts jsonb not null,
  group_id text collate "C" not null,
  created_at timestamptz not null,
  finished_at timestamptz not null default clock_timestamp(),
  replayed_as text collate "C",
  primary key (organization_id, id)
);
create index dead_letters_by_id on dead_letters (id);
create index dead_letters_to_replay on dead_letters (finished_at, id) where replayed_as is null;
create index dead_letters_of_group on dead_letters (group_id, finished_at, id) where replayed_as is null;
create index dead_letters_of_endpoint on dead_letters (endpoint_id, id);
create index dead_letters_replayed on dead_letters (finished_at, id) where replayed_as is not null;

-- Calls to an endpoint that failed in the same way, and their dead letters: docs/decisions/0008-failures-are-grouped-when-they-are-written.md.
-- failures counts the failed calls of an episode from opened_at to last_at. closed_at is set when calls succeed again, or the endpoint is enabled or gets
-- another address. The next failure opens another episode.
-- calls_before and delivered_before are the endpoint's counts in delivery_outcomes before opened_at in its five minutes;
-- delivered_then is the count of successes in those of last_at.
-- rejected, exhausted and poison count the dead letters that weren't replayed, open their sum, and stored also the replayed ones.
create table failure_groups (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null references webhook_endpoints,
  status integer,
  outcome text not null,
  first_line text,
  failures bigint not null default 0,
  opened_at timestamptz not null,
  last_at timestamptz not null,
  closed_at timestamptz,
  calls_before integer not null default 0,
  delivered_before integer not null default 0,
  delivered_then integer not null default 0,
  rejected integer not null default 0,
  exhausted integer not null default 0,
  poison integer not null default 0,
  open integer not null default 0,
  stored integer not null default 0,
  muted_at timestamptz,
  muted_reason text,
  primary key (id, organization_id),
  check ((muted_at is null) = (muted_reason is null))
) with (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index failure_groups_of_endpoint on failure_groups (organization_id, endpoint_id);
create index failure_groups_lasting on failure_groups (organization_id, id) where closed_at is null;

-- An endpoint's outcomes within five minutes, or within an hour after some days: attempts by outcome, new dead
-- letters, and a latency histogram.
create table delivery_outcomes (
  organization_id text collate "C" not null,
  endpoint_id text collate "C" not null references webhook_endpoints,
  at timestamptz not null,
  seconds integer not null default 300,
  delivered integer not null default 0,
  client_errors integer not null default 0,
  server_errors integer not null default 0,
  other_statuses integer not null default 0,
  no_responses integer not null default 0,
  dead_letters integer not null default 0,
  latencies integer[] not null default '{}',
  primary key (endpoint_id, at, seconds, organization_id)
) with (fillfactor = 50, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
create index delivery_outcomes_by_time on delivery_outcomes (seconds, at);

-- Jobs that replay dead letters (selected by group_id, status, event_type and reason) or a range of an endpoint's log (by event_types), or make the
-- waiting deliveries of an endpoint due (by group_id).
-- from_at and to_at limit the time when the dead letters died, or when the events were published.
-- after_at and after_id are the job's position; scan_limit is the number of dead letters that its next chunk reads, if some aren't selected.
create table replay_jobs (
  id text collate "C" primary key default make_id('rpl'),
  kind text not null default 'dead_letters' check (kind in ('dead_letters', 'log', 'waiting')),
  organization_id text collate "C",
  endpoint_id text collate "C",
  group_id text collate "C",
  status integer,
  event_type text,
  reason text,
  event_types text[],
  from_at timestamptz,
  to_at timestamptz,
  before_at timestamptz not null,
  rate integer not null check (rate > 0),
  total integer not null,
  replayed integer not null default 0,
  after_at timestamptz not null,
  after_id text collate "C" not null default '',
  scan_limit integer not null default 0,
  next_at timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  cancelled_at timestamptz
);
create index replay_jobs_under_way on replay_jobs (next_at) where finished_at is null and cancelled_at is null;

-- Inbox

-- Partners' events, once for each of their event ids. The body is stored as signed.
-- Events are applied in the order of received_at.
-- differing counts the repetitions with another body. secret_id is the signing secret that verified the event, without a foreign key,
-- because the secret was just read and receiving must be cheap.
-- A partition for each UTC month, as in events. Each has its own primary key, and keep_inbox_key keeps ids unique across all.
create table inbox (
  organization_id text collate "C" not null references organizations,
  event_id text collate "C" not null,
  endpoint_id text collate "C" not null references webhook_endpoints,
  secret_id text collate "C" not null,
  type text not null,
  npi text collate "C",
  body text not null,
  received_at timestamptz not null,
  applied_at timestamptz,
  quarantined_at timestamptz,
  reason text,
  differing integer not null default 0,
  traceparent text,
  check ((quarantined_at is null) = (reason is null)),
  check (applied_at is null or quarantined_at is null)
) partition by range (received_at);
create table inbox_later partition of inbox (primary key (organization_id, event_id)) for values from (minvalue) to (maxvalue);
create index inbox_to_apply on inbox (organization_id, received_at, event_id)
  where applied_at is null and quarantined_at is null;
create index inbox_quarantined on inbox (organization_id, quarantined_at, event_id) where quarantined_at is not null;
-- The events about one clinician. An event enters the index when it is applied, so that receiving it costs no more.
create index inbox_applied_of_clinician on inbox (organization_id, npi, received_at) where applied_at is not null;

-- The ids of all received events. They outlive the bodies, so that no event is applied twice.
create table inbox_keys (
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  received_at timestamptz not null,
  primary key (organization_id, event_id)
);
-- The console lists applied events by their receipt. This index is on the keys, because keys never change.
create index inbox_keys_by_receipt on inbox_keys (organization_id, received_at, event_id);
create trigger keep_inbox_key before insert on inbox for each row execute function keep_inbox_key();

-- The webhooks to an endpoint that had no valid signature, by reason. Nothing of their content is stored, because anybody can send them.
create table signature_rejections (
  endpoint_id text collate "C" references webhook_endpoints on delete cascade,
  reason text,
  count integer not null,
  first_at timestamptz not null default clock_timestamp(),
  last_at timestamptz not null default clock_timestamp(),
  primary key (endpoint_id, reason)
) with (fillfactor = 50);

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

-- Unsent e-mails. A row is deleted when the recipient's row has the outcome.
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
create index messages_quarantined_of_campaign on messages (organization_id, campaign_id, quarantined_at, recipient_id)
  where quarantined_at is not null;
-- The reasons for unsent messages of a campaign, without the merely waiting ones.
create index messages_failed on messages (organization_id, campaign_id, failure_class, failure_code) where failure_class is not null;

-- Attempts to send a message, with the mail server's reply. They outlive the message's row.
-- Of attempts with the same number and outcome only the last is stored. Number 0 is a report after the message was sent.
-- Without a foreign key, because its check costs 4 % of an e-mail. The writer has locked the recipient, and recipients are never deleted.
create table message_attempts (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  number integer not null,
  outcome text not null check (outcome in ('accepted', 'bounced', 'deferred', 'refused', 'unreachable', 'unknown')),
  times integer not null default 1,
  first_at timestamptz not null default statement_timestamp(),
  last_at timestamptz not null default statement_timestamp(),
  reply text,
  primary key (organization_id, recipient_id, number, outcome)
);
create index message_attempts_by_age on message_attempts (last_at);

-- The imports of lists into campaigns. lines is null until all are counted. fault is the reason of a failed import, and rejects has
-- the numbers and reasons of the first rejected lines, without the list's contents.
create table imports (
  organization_id text collate "C" not null,
  id text collate "C" not null default make_id('imp'),
  campaign_id text collate "C" not null,
  operator text not null,
  begun_at timestamptz not null default clock_timestamp(),
  active_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  fault text,
  lines integer,
  imported integer not null default 0,
  updated integer not null default 0,
  already_there integer not null default 0,
  suppressed integer not null default 0,
  repeated integer not null default 0,
  rejected integer not null default 0,
  rejects jsonb not null default '[]',
  primary key (organization_id, id),
  foreign key (organization_id, campaign_id) references campaigns
);
create index imports_of_campaign on imports (organization_id, campaign_id, id);

-- The next turns of running campaigns, and of their organizations, which are never later than their campaigns'.
-- Organizations, and the campaigns of each, take turns in sending: docs/decisions/0018-organizations-take-turns-in-sending.md.
-- The tables are unlogged: openAndComplete creates missing turns of running campaigns.
create unlogged table campaign_turns (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  next_at timestamptz not null,
  primary key (organization_id, campaign_id)
) with (fillfactor = 50);
create index campaign_turns_next on campaign_turns (organization_id, next_at);
create unlogged table organization_turns (
  organization_id text collate "C" primary key,
  next_at timestamptz not null
) with (fillfactor = 50);
create index organization_turns_next on organization_turns (next_at);

-- When the next message may be sent: of all, of a campaign, to a recipient domain. Unlogged: after a crash, each scope may exceed its rate by one second's messages.
create unlogged table send_rates (
  scope text collate "C" primary key,
  next_at timestamptz not null
) with (fillfactor = 50);

-- Recipients who reported their message as unwanted. There is no event for it, so the recipient's row and stamp don't change.
create table complaints (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  feedback_type text not null,
  reported_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, campaign_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
);
create index complaints_by_time on complaints (reported_at);
create index complaints_of_campaign on complaints (organization_id, campaign_id, reported_at, recipient_id);

-- Recipients with an accepted message that a report refused without a hard bounce. There is no event for it. The first cause is stored.
create table late_refusals (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  cause text not null check (cause in ('policy', 'content', 'full', 'expired', 'other')),
  refused_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, campaign_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
);
create index late_refusals_of_campaign on late_refusals (organization_id, campaign_id, refused_at, recipient_id);

-- Hits

-- Requests for the pixels and links of messages as received, and their classification.
-- repeats counts the hits within the next minute, which have no row.
-- A partition for each UTC month, as in events, by the id, which starts with the time, so that the id is the key.
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
) partition by range (id);
create table hits_later partition of hits for values from (minvalue) to (maxvalue);
create index hits_to_judge on hits (organization_id, received_at, id) where judged_at is null;
create index hits_judged on hits (judged_at) where judged_at is not null;
-- A hit is classified by the recipient's other hits in the seconds before. With organization_id, which the recipient's id implies, the index
-- would also serve look-ups of hits by key, and a plan from when the table was empty would read all hits of the organization.
create index hits_of_recipient on hits (recipient_id, received_at);

-- The hits of a link in a clock minute within their limit: of each network, and of all networks as '*'. Unlogged: a crash gives every link at most one fresh minute.
create unlogged table hit_windows (
  window_start timestamptz not null,
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  link_hash bytea not null,
  network text collate "C" not null,
  hits integer not null,
  primary key (window_start, organization_id, recipient_id, link_hash, network)
);

-- Suppressions

-- The clinicians to whom a program, or with an empty program_id all programs of the organization, must not send e-mails.
-- Addresses are in lower case by lower(). by_unsubscription marks entries of an unsubscription, which are removed when it is revoked.
-- applied_at is null for a bounce or complaint until the waiting recipients are withdrawn.
create table suppressions (
  organization_id text collate "C" not null references organizations,
  kind text not null check (kind in ('npi', 'email')),
  value text collate "C" not null,
  program_id text collate "C" not null,
  reason text not null check (reason in ('account_created', 'unsubscribed', 'operator', 'bounced', 'complained')),
  by_unsubscription boolean not null default false,
  created_at timestamptz not null default clock_timestamp(),
  applied_at timestamptz default clock_timestamp(),
  primary key (organization_id, kind, value, program_id),
  check (case program_id when '' then reason <> 'account_created' else reason in ('account_created', 'unsubscribed', 'operator') end)
);
create index suppressions_to_apply on suppressions (created_at) where applied_at is null;
-- The newest entries of each scope and reason, for operators.
create index suppressions_by_time on suppressions (organization_id, program_id, reason, created_at);

-- Recipients who unsubscribed, from a program or (from_organization) from all. The workers turn each row into suppressions. repeats counts further requests.
-- revoked_at is the time of the revocation, and lifted_at that of removing its suppressions: docs/decisions/0020-bounces-and-unsubscriptions-apply-to-the-whole-organization.md.
create table unsubscriptions (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  from_organization boolean not null,
  asked_at timestamptz not null default clock_timestamp(),
  repeats integer not null default 0,
  suppressed_at timestamptz,
  revoked_at timestamptz,
  lifted_at timestamptz,
  primary key (organization_id, recipient_id),
  foreign key (organization_id, recipient_id) references recipients
);
create index unsubscriptions_of_campaign on unsubscriptions (organization_id, campaign_id, asked_at, recipient_id);
create index unsubscriptions_to_apply on unsubscriptions (asked_at) where suppressed_at is null;
create index unsubscriptions_to_lift on unsubscriptions (revoked_at) where revoked_at is not null and lifted_at is null;

-- Digest

-- Each program's event counts by UTC date, updated by the transactions that write the events.
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

-- Counts of the stages reached by clinicians, by UTC date.
-- Dates never decrease for an organization, so the newest row of a program has its totals.
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

-- Compressed responses to requests with an Idempotency-Key: docs/decisions/0002-stored-idempotent-responses-are-limited-by-size.md.
-- bytes_before is the organization's sum before this response, so that deleting the excess only compares two numbers.
create table stored_responses (
  organization_id text collate "C" not null references organizations,
  key text collate "C" not null,
  fingerprint bytea not null,
  status smallint not null,
  headers jsonb not null,
  encoding text not null check (encoding in ('identity', 'zstd')),
  body bytea,
  bytes_before bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, key)
);
-- PostgreSQL would try to compress it again.
alter table stored_responses alter column body set storage external;
create index stored_responses_by_age on stored_responses (created_at);
create index stored_responses_by_bytes on stored_responses (organization_id, bytes_before);

-- The sum of all responses that an organization ever stored, in bytes. It only grows. Not in organizations, which heartbeats watch for changes.
create table stored_response_totals (
  organization_id text collate "C" primary key references organizations,
  bytes bigint not null
) with (fillfactor = 50);

-- Erasure: keyed hashes of erased clinicians, which continue to suppress, and the effects of each erasure
-- (docs/decisions/0029-an-erased-clinician-leaves-a-keyed-hash.md)

-- The random key of an organization's hashes, encrypted like signing secrets. placeholders counts the values that replace erased ones.
create table erasure_keys (
  organization_id text collate "C" primary key references organizations,
  ciphertext bytea not null,
  placeholders bigint not null default 0
);

create table erased_clinicians (
  organization_id text collate "C" not null references organizations,
  hash bytea not null,
  primary key (organization_id, hash)
);

-- Certificates, which are never deleted. operator started the erasure; commands has its entries in the audit log, which may be removed earlier.
-- state has the encrypted remaining work of an unfinished erasure. release is the version of the service.
create table erasures (
  organization_id text collate "C" not null references organizations,
  id text collate "C" not null,
  operator text not null,
  commands text[] collate "C" not null,
  subject bytea not null,
  hashes bytea[] not null,
  release text not null,
  counts jsonb not null default '{}',
  state bytea,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (organization_id, id),
  check ((state is null) = (finished_at is not null))
);
create index erasures_of_command on erasures using gin (commands);

-- Events with a recently erased body: a worker that read it before may still write the partner's response.
create table erased_events (
  organization_id text collate "C" not null references organizations,
  event_id text collate "C" not null,
  erased_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, event_id)
);

-- Operators

-- The users of the console: docs/decisions/0032-the-console-is-rendered-on-the-server-and-works-without-scripts.md.
-- An operator with an organization_id has no access to other organizations. A partner always has one.
create table operators (
  id text collate "C" primary key,
  name text not null,
  role text not null check (role in ('viewer', 'operator', 'admin', 'partner', 'partner-admin')),
  organization_id text collate "C" references organizations,
  created_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz,
  check (role not in ('partner', 'partner-admin') or organization_id is not null)
);
create unique index operators_by_name on operators (name) where removed_at is null;

-- Only SHA-256 hashes of link and session tokens are stored. once means a single use.
create table sign_in_links (
  hash bytea primary key,
  operator_id text collate "C" not null references operators,
  once boolean not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sign_in_links_of_operator on sign_in_links (operator_id);

create table operator_sessions (
  hash bytea primary key,
  id text collate "C" not null default make_id('ses'),
  operator_id text collate "C" not null references operators,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index operator_sessions_of_operator on operator_sessions (operator_id);

-- Operators' commands that change data or show personal data: one row at the start, and one at the end.
-- arguments has the values of harmless arguments, and null for all other given arguments.
create table audit_log (
  id text collate "C" primary key default make_id('aud'),
  begun_at timestamptz not null default clock_timestamp(),
  role text not null default session_user,
  operator text,
  os_user text not null,
  host text not null,
  command text not null,
  arguments json not null,
  objects text[] collate "C" not null,
  organizations text[] not null,
  -- Identifies the submitted form, so that it can start only once; null for a command.
  submission text unique
);
create index audit_log_of_object on audit_log using gin (objects);

-- A command without a row here is running or was killed.
create table audit_results (
  command_id text collate "C" primary key references audit_log on delete cascade,
  ended_at timestamptz not null default clock_timestamp(),
  result text not null check (result in ('succeeded', 'failed', 'interrupted')),
  code text check ((code is not null) = (result = 'failed'))
);

-- The audit log's chain: a link for the start, end and removal of each command, in commit order and without gaps.
-- hash is SHA-256 of the link's text from chain_audit, which has all columns of the entry, and previous, the previous link's hash.
-- A removed command keeps its links.
create table audit_chain (
  number integer primary key,
  kind text collate "C" not null check (kind in ('begun', 'ended', 'removed')),
  command_id text collate "C" not null,
  previous bytea,
  hash bytea not null,
  removed_at timestamptz,
  removed_by text,
  unique (command_id, kind),
  check ((kind = 'removed') = (removed_at is not null) and (kind = 'removed') = (removed_by is not null))
);

-- Deferred, so that the chain is locked only during a commit.
create constraint trigger audit_log_is_chained after insert or delete on audit_log
  deferrable initially deferred for each row execute function chain_audit();
create constraint trigger audit_results_are_chained after insert on audit_results
  deferrable initially deferred for each row execute function chain_audit();

-- Protects also against mistakes by the tables' owner. docs/audit.md has the statements to remove old entries.
create trigger audit_log_is_append_only before update or truncate on audit_log
  for each statement execute function refuse_change();
create trigger audit_results_are_append_only before update or truncate on audit_results
  for each statement execute function refuse_change();
create trigger audit_chain_is_append_only before update or delete or truncate on audit_chain
  for each statement execute function refuse_change();
create trigger audit_log_is_not_removed before delete on audit_log
  for each statement when (current_setting('outreach.removes_audit', true) is distinct from 'on') execute function refuse_change();
create trigger audit_results_are_not_removed before delete on audit_results
  for each statement when (current_setting('outreach.removes_audit', true) is distinct from 'on') execute function refuse_change();

-- The roles of `ops migrate --grant-to`. Each migration grants them the rights for the newest schema.
create table granted_roles (
  role text collate "C" not null,
  kind text collate "C" not null check (kind in ('api', 'worker', 'operator', 'reader')),
  primary key (role, kind)
);

-- The server

-- The timelines on which this database was written, each with the mark of its server.
-- Two servers promoted to the same number have different marks: docs/decisions/0004-timestamps-jump-ahead-after-a-failover.md.
create table timelines (
  timeline text collate "C" primary key,
  mark text not null
);
perform note_timeline();

-- Restores of the database to an earlier time. During an unfinished one, the workers don't send.
-- last_transaction_at is the last commit that PostgreSQL replayed, if it still knows.
create table restores (
  id text collate "C" primary key,
  restored_to timestamptz not null,
  last_transaction_at timestamptz,
  begun_at timestamptz not null default clock_timestamp(),
  mail_log_read_at timestamptz,
  finished_at timestamptz
);
create unique index restores_under_way on restores ((finished_at is null)) where finished_at is null;

-- The trusted time of the database's clock, independent of the processes: docs/decisions/0025-deletion-by-age-requires-a-trusted-clock.md.
-- From steady_from to steady_to, by its own readings, the untrusted clock has run steadily. There is one row.
-- faults are the times of an untrusted clock. Rows with such times aren't deleted by age.
-- From doubted_from to doubted_at, workers have reported doubt at least every minute.
-- identity is that of the server that the workers last used, at seen_at: current_identity().
create table clock_watch (
  believed_at timestamptz not null,
  steady_from timestamptz,
  steady_to timestamptz,
  doubt text,
  doubted_from timestamptz,
  doubted_at timestamptz,
  faults tstzmultirange not null default '{}',
  identity text,
  seen_at timestamptz
);
create unique index clock_watch_row on clock_watch ((true));
insert into clock_watch (believed_at) values (clock_timestamp());

-- The number of partitions of each table that no process can drop, and the UTC day of the last drop.
-- min_keep counts days of delivered and hits, and months of the other tables.
create table retention_limits (
  parent text primary key,
  min_keep integer not null check (min_keep > 0),
  dropped_on date
);
insert into retention_limits (parent, min_keep) values ('delivered', 7), ('hits', 7), ('events', 1), ('inbox', 1);
