-- Lets organizations, and the campaigns of each, take turns in sending, so that a claim looks at a few of them and not at all.

-- When a sending campaign is to be looked at again, and when an organization, which is no later than any of its campaigns.
-- The tables are unlogged: openAndComplete gives a turn to whoever sends and has none.
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

-- All locks or none, each within a moment, as in 0004.
declare
  patience constant text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      lock table campaigns in share row exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 200 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;
create trigger begin_turns after insert or update on campaigns for each row
  when (new.status = 'sending') execute function begin_turns();

insert into campaign_turns select organization_id, id, '-infinity' from campaigns where status = 'sending';
insert into organization_turns select distinct organization_id, '-infinity'::timestamptz from campaign_turns;
