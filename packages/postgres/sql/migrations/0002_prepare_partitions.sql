-- Prepares events, inbox and hits to become partitions, which 0004 makes of them.
--
-- Each table gets a check of the range that it will hold, from the beginning to a month that is still to come.
-- 0004 validates the checks, so that no table is scanned while it is locked.

-- The ids of every event that partners sent. They outlive the bodies, so that no event is ever applied twice.
create table inbox_keys (
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  received_at timestamptz not null,
  primary key (organization_id, event_id)
);

declare
  last_hit timestamptz;
  last_received timestamptz;
  last_emitted timestamptz;
  -- The first month that begins more than a month after the clock and after every row.
  coming text;
begin
  select max(emitted_at) into last_emitted from organizations cross join lateral (
    select emitted_at from events where organization_id = organizations.id order by emitted_at desc limit 1
  ) event;
  select max(received_at) into last_received from inbox;
  select max(to_timestamp(('x' || substr(hit.id, 5, 12))::bit(48)::bigint / 1000.0)) into last_hit
  from organizations cross join lateral (
    select id from hits where organization_id = organizations.id and id ~ '^hit_[0-9a-f]{32}$' order by id desc limit 1
  ) hit;
  coming := (date_trunc('month', greatest(clock_timestamp(), last_emitted, last_received, last_hit) at time zone 'UTC')
    + interval '2 months') at time zone 'UTC';
  -- In the order in which transactions write them.
  execute format('alter table hits add constraint hits_range check (id < %L) not valid',
    'hit_' || lpad(to_hex((extract(epoch from coming::timestamptz) * 1000)::bigint), 12, '0'));
  execute format('alter table inbox add constraint inbox_range check (received_at < %L) not valid', coming);
  execute format('alter table events add constraint events_range check (emitted_at < %L) not valid', coming);
end;

-- From here to 0004, which copies the keys of all earlier rows, and drops this.
create function note_inbox_key() returns trigger language plpgsql as $$
begin
  insert into inbox_keys values (new.organization_id, new.event_id, new.received_at) on conflict do nothing;
  return null;
end
$$;
create trigger note_inbox_key after insert on inbox for each row execute function note_inbox_key();
