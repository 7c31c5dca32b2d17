-- What the console shows of deliveries without counting them: docs/decisions/0059-failures-are-grouped-where-they-are-written.md.
--
-- Before the files that build indexes: write_progress is replaced with the first files, and writes to these tables from then on.

-- The lock within a moment, as in 0004.
declare
  patience constant text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      lock table dead_letters in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 200 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;

-- Dead letters that failed alike, replayed or not. What is open was not replayed. first_at and last_at are those of all that there ever were.
create table failure_groups (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  reason text not null,
  status integer,
  outcome text not null,
  first_line text,
  open integer not null default 0,
  stored integer not null default 0,
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (id, organization_id)
) with (fillfactor = 70);
create index failure_groups_of_endpoint on failure_groups (organization_id, endpoint_id);
create index failure_groups_open on failure_groups (last_at, id) where open > 0;

-- How many dead letters of a group are stored that died in an hour.
create table failure_group_hours (
  organization_id text collate "C" not null,
  group_id text collate "C" not null,
  hour timestamptz not null,
  count integer not null,
  primary key (organization_id, group_id, hour)
) with (fillfactor = 70);

-- What came of calls to an endpoint within five minutes, or within an hour of some days ago: attempts by their outcome, deliveries that
-- died, and a histogram of latencies.
create table delivery_outcomes (
  organization_id text collate "C" not null,
  endpoint_id text collate "C" not null,
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

-- The rights of a release are granted when all its files were applied, and an index may be built between them.
declare
  granted record;
begin
  for granted in select role from granted_roles join pg_roles on rolname = role where kind in ('worker', 'operator') loop
    execute format('grant select, insert, update, delete on failure_groups, failure_group_hours, delivery_outcomes to %I', granted.role);
  end loop;
end;

-- Null for one of before, until a worker has put it into its group.
alter table dead_letters add column group_id text collate "C";
create trigger group_failure before insert or update of attempts on dead_letters for each row execute function group_failure();
create trigger keep_failure_groups_insert after insert on dead_letters referencing new table as added
  for each statement execute function keep_failure_groups();
create trigger keep_failure_groups_update after update on dead_letters referencing old table as removed new table as added
  for each statement execute function keep_failure_groups();
create trigger keep_failure_groups_delete after delete on dead_letters referencing old table as removed
  for each statement execute function keep_failure_groups();
