-- Campaigns that compare two subjects: docs/decisions/0051-a-subject-test-holds-messages-back.md.

-- began_at is when the campaign began to send, or went on; counts is what the winner was decided by. After released_at no message waits for the winner.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.
create table subject_tests (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  subject_b text not null,
  share integer not null check (share between 1 and 100),
  after_seconds integer check (after_seconds > 0),
  began_at timestamptz,
  winner text check (winner in ('a', 'b')),
  decided_at timestamptz,
  counts jsonb,
  released_at timestamptz,
  primary key (organization_id, campaign_id),
  check ((after_seconds is null) = (share = 100)),
  check ((winner is null) = (decided_at is null) and (winner is null) = (counts is null))
);

-- All locks or none, each within a moment, as in 0004.
declare
  patience constant text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      lock table recipients in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 200 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;
-- The subject that a recipient tests; null for all others.
alter table recipients add column if not exists test_subject text;
