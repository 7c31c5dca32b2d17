-- Campaigns to those recipients of an earlier one who have not done something: docs/decisions/0052-a-follow-up-is-drawn-once.md.

-- last_id is the recipient of the earlier campaign who was drawn or skipped last; skipped counts by reason. After drawn_at nobody is drawn.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.
create table follow_ups (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  first_id text collate "C" not null check (first_id <> campaign_id),
  unless text not null check (unless in ('clicked', 'account_created', 'learner_qualified')),
  after_seconds integer not null check (after_seconds > 0),
  lead_seconds integer not null check (lead_seconds > 0),
  last_id text collate "C",
  skipped jsonb not null default '{}',
  drawn_at timestamptz,
  primary key (organization_id, campaign_id)
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
-- Validated in a transaction of its own, because that reads the whole table.
alter table recipients drop constraint recipients_withdrawal_reason_check;
alter table recipients add constraint recipients_withdrawal_reason_check
  check (withdrawal_reason in ('suppressed', 'learner_qualified', 'completer_qualified', 'quota_reached', 'clicked')) not valid;
