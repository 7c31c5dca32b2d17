-- In a transaction of its own, because its trigger locks the endpoints' readers, which workers update.
--
-- Keeps what operators see of endpoints and partners: openings and closings of breakers, and what the API was asked.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.

-- The newest openings and closings of each endpoint's breaker: note_breaker deletes the older ones.
create table breaker_changes (
  organization_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  changed_at timestamptz not null,
  breaker text not null check (breaker in ('open', 'closed')),
  failures integer not null,
  primary key (organization_id, endpoint_id, changed_at)
);

-- How the API answered in an hour. caller_id is a key, or the endpoint of a webhook; code is that of the error, empty without one. peak is the most
-- requests that one rate window had counted of the key.
create table request_counts (
  organization_id text collate "C" not null,
  caller_id text collate "C" not null,
  hour timestamptz not null,
  code text collate "C" not null,
  requests bigint not null,
  peak integer not null,
  primary key (organization_id, caller_id, hour, code)
) with (fillfactor = 50);
create index request_counts_by_hour on request_counts (hour);

-- How far a key has read a list: its last page ended at position_at and position_id. types is null for all.
create table read_positions (
  organization_id text collate "C" not null,
  key_id text collate "C" not null,
  list text not null check (list in ('events', 'tokens')),
  types text[],
  position_at timestamptz not null,
  position_id text collate "C" not null,
  has_more boolean not null,
  read_at timestamptz not null,
  primary key (organization_id, key_id, list)
) with (fillfactor = 50);

-- When a webhook that a partner sent was last verified with a secret.
create table secret_verifications (
  organization_id text collate "C" not null,
  secret_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  verified_at timestamptz not null,
  primary key (organization_id, secret_id, endpoint_id)
) with (fillfactor = 50);

-- Before the trigger writes, with the rights of whoever changes a breaker: those of a release are granted when all its files were applied.
declare
  granted record;
begin
  for granted in select role from granted_roles join pg_roles on rolname = role where kind in ('worker', 'operator') loop
    execute format('grant select, insert, delete on breaker_changes to %I', granted.role);
  end loop;
end;

create trigger note_breaker after update on endpoint_readers for each row
  when ((old.allowance is null) <> (new.allowance is null)) execute function note_breaker();
