-- Partitions events, inbox and hits by month, in UTC.
--
-- What a table holds today becomes its first partition, which ends where the check of 0002 does. The last partition takes what is later.
-- Both together take every row, whatever a clock says; keep_partitions makes the months between them.
-- There is no default partition: beside one, the log could not be read in order, partition after partition.

-- While the tables are read and written.
insert into inbox_keys select organization_id, event_id, received_at from inbox on conflict do nothing;
alter table hits validate constraint hits_range;
alter table inbox validate constraint inbox_range;
alter table events validate constraint events_range;

-- All locks or none, each within a moment: who waits for a table while it holds another stands in a circle with a
-- transaction that has them the other way round. Writers wait for a moment at most, and go on between two attempts.
declare
  patience constant text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      -- In the order in which transactions write them. The foreign keys of this file, and of those after it, lead to the first four:
      -- attaching a partition drops triggers of theirs, which locks them as well.
      lock table organizations, campaigns, webhook_endpoints, recipients, hits, inbox, deliveries, dead_letters, events
        in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 200 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;

-- An id alone no longer names an event to PostgreSQL. keep_partitions drops no event that a delivery or a dead letter needs.
alter table deliveries drop constraint deliveries_organization_id_event_id_fkey;
alter table dead_letters drop constraint dead_letters_organization_id_event_id_fkey;

alter table events rename to events_earlier;
alter table events_earlier drop constraint events_pkey;
alter table events_earlier add constraint events_earlier_pkey primary key using index events_earlier_pkey;
alter index events_log rename to events_earlier_log;
alter index events_by_type rename to events_earlier_by_type;
alter index events_of_recipient rename to events_earlier_of_recipient;
create table events (
  like events_earlier including defaults,
  primary key (organization_id, id, emitted_at),
  constraint events_organization_id_fkey foreign key (organization_id) references organizations
) partition by range (emitted_at);
create index events_log on events (organization_id, emitted_at, id);
create index events_by_type on events (organization_id, type, emitted_at, id);
create index events_of_recipient on events (organization_id, recipient_id, emitted_at)
  where type in ('outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked');

-- Each partition has a primary key of its own. Over all of them inbox_keys tells which events were received.
alter table inbox rename to inbox_earlier;
alter table inbox_earlier rename constraint inbox_pkey to inbox_earlier_pkey;
alter index inbox_to_apply rename to inbox_earlier_to_apply;
alter index inbox_quarantined rename to inbox_earlier_quarantined;
alter index inbox_applied_of_clinician rename to inbox_earlier_applied_of_clinician;
create table inbox (
  like inbox_earlier including defaults including constraints,
  constraint inbox_organization_id_fkey foreign key (organization_id) references organizations,
  constraint inbox_endpoint_id_fkey foreign key (endpoint_id) references webhook_endpoints
) partition by range (received_at);
create index inbox_to_apply on inbox (organization_id, received_at, event_id)
  where applied_at is null and quarantined_at is null;
create index inbox_quarantined on inbox (organization_id, quarantined_at, event_id) where quarantined_at is not null;
create index inbox_applied_of_clinician on inbox (organization_id, npi, received_at) where applied_at is not null;
drop trigger note_inbox_key on inbox_earlier;
drop function note_inbox_key();
create trigger keep_inbox_key before insert on inbox for each row execute function keep_inbox_key();

-- By the id, which begins with the time: so the id alone stays the key.
alter table hits rename to hits_earlier;
alter table hits_earlier rename constraint hits_pkey to hits_earlier_pkey;
alter index hits_to_judge rename to hits_earlier_to_judge;
alter index hits_judged rename to hits_earlier_judged;
alter index hits_of_recipient rename to hits_earlier_of_recipient;
create table hits (
  like hits_earlier including defaults including constraints,
  primary key (organization_id, id),
  constraint hits_organization_id_recipient_id_fkey foreign key (organization_id, recipient_id) references recipients
) partition by range (id);
create index hits_to_judge on hits (organization_id, received_at, id) where judged_at is null;
create index hits_judged on hits (judged_at) where judged_at is not null;
create index hits_of_recipient on hits (organization_id, recipient_id, received_at);

declare
  parent text;
  is_used boolean;
  until text;
begin
  foreach parent in array array['events', 'inbox', 'hits'] loop
    select substring(pg_get_constraintdef(oid) from '''(.*)''') into until from pg_constraint
    where conrelid = (parent || '_earlier')::regclass and conname = parent || '_range';
    if parent <> 'events' then execute format('alter table %I drop constraint %I', parent, parent || '_range'); end if;
    execute format('select exists (select from %I)', parent || '_earlier') into is_used;
    if is_used then
      execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, parent || '_earlier', until);
      execute format('alter table %I drop constraint %I', parent || '_earlier', parent || '_range');
      execute format('create table %I partition of %I for values from (%L) to (maxvalue)', parent || '_later', parent, until);
    else
      execute format('drop table %I', parent || '_earlier');
      execute format('create table %I partition of %I for values from (minvalue) to (maxvalue)', parent || '_later', parent);
    end if;
  end loop;
  alter table inbox_later add primary key (organization_id, event_id);
end;
