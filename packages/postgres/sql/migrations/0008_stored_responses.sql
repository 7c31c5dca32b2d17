-- Responses kept for idempotency keys, compressed. Processes of the last release go on with idempotency_keys, which this release reads as well.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.

-- bytes_before counts what the organization stored before this response: who deletes what is too old compares two numbers.
create table stored_responses (
  organization_id text collate "C" not null,
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
-- PostgreSQL would try to compress what is compressed already.
alter table stored_responses alter column body set storage external;
create index stored_responses_by_age on stored_responses (created_at);
create index stored_responses_by_bytes on stored_responses (organization_id, bytes_before);

-- The bytes of all responses that an organization ever stored. It only grows.
create table stored_response_totals (
  organization_id text collate "C" primary key,
  bytes bigint not null
) with (fillfactor = 50);
