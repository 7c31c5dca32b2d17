-- In a transaction of its own, because its triggers lock the tables that every message and hit writes.
--
-- Keeps how many recipients of a campaign are in which state, so that nobody counts them: docs/decisions/0062-campaigns-are-counted-by-changes.md.

-- A row for each campaign and tested subject: '' for recipients who test none. The worker writes that of a campaign from before this file.
create table if not exists campaign_counts (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  subject text not null default '',
  recipients integer not null default 0,
  published integer not null default 0,
  withdrawn integer not null default 0,
  sent integer not null default 0,
  bounced integer not null default 0,
  -- Sent or bounced.
  answered integer not null default 0,
  queued integer not null default 0,
  deferred integer not null default 0,
  unknown integer not null default 0,
  quarantined integer not null default 0,
  -- Recipients who opened and clicked: of all, and of those not suspected to be bots.
  opened integer not null default 0,
  clicked integer not null default 0,
  unsuspected_opened integer not null default 0,
  unsuspected_clicked integer not null default 0,
  -- Recipients who came so far after they were sent the e-mail.
  accounts integer not null default 0,
  learners integer not null default 0,
  completers integer not null default 0,
  primary key (organization_id, campaign_id, subject)
) with (fillfactor = 50);

create table if not exists campaign_hours (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  hour timestamptz not null,
  sent integer not null,
  bounced integer not null,
  primary key (organization_id, campaign_id, hour)
) with (fillfactor = 50);

-- What the mail servers of a recipient domain answered. The reply is without addresses: cleanSmtpReply.
create table if not exists campaign_domains (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  domain text collate "C" not null,
  sent integer not null default 0,
  -- Answers: a message may be deferred and refused several times.
  deferred integer not null default 0,
  refused integer not null default 0,
  mailbox_not_found integer not null default 0,
  mailbox_disabled integer not null default 0,
  domain_not_found integer not null default 0,
  address_invalid integer not null default 0,
  other integer not null default 0,
  last_reply text,
  last_reply_at timestamptz,
  primary key (organization_id, campaign_id, domain)
) with (fillfactor = 50);
-- By the order of magnitude, which seldom changes, so that nearly all updates leave the index alone.
create index if not exists campaign_domains_by_size on campaign_domains (organization_id, campaign_id, domain_size(
  sent, deferred, refused, mailbox_not_found, mailbox_disabled, domain_not_found, address_invalid, other));

-- What each transaction changed, until the worker adds it to the tables above. A row of its own, so that nobody waits for anybody.
create table if not exists campaign_count_changes (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  id uuid not null default gen_random_uuid(),
  subject text not null default '',
  hour timestamptz,
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
  primary key (organization_id, campaign_id, id)
) with (autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- Before the triggers write: the rights of a release are granted when all its files were applied, and an index may be built between them.
declare
  granted record;
begin
  for granted in select role from granted_roles where kind in ('worker', 'operator') loop
    execute format('grant insert on campaign_count_changes, campaign_counts to %I', granted.role);
  end loop;
end;

create trigger count_campaign after insert on campaigns for each row execute function count_campaign();
create trigger count_new_recipients after insert on recipients
  referencing new table as new_rows for each statement execute function count_new_recipients();
create trigger count_recipients after update on recipients
  referencing old table as old_rows new table as new_rows for each statement execute function count_recipients();
create trigger count_new_messages after insert on messages
  referencing new table as new_rows for each statement execute function count_new_messages();
create trigger count_gone_messages after delete on messages
  referencing old table as old_rows for each statement execute function count_gone_messages();
-- Each for itself, because most updates of messages are leases, which change no count.
create trigger count_messages after update on messages for each row when (
    (old.attempts > 0) <> (new.attempts > 0) or (old.unknown_outcomes > 0) <> (new.unknown_outcomes > 0)
    or (old.quarantined_at is null) <> (new.quarantined_at is null)
  ) execute function count_messages();
create trigger count_new_hits after insert on unique_hits
  referencing new table as new_rows for each statement execute function count_new_hits();
create trigger count_hits after update on unique_hits
  referencing old table as old_rows new table as new_rows for each statement execute function count_hits();
create trigger count_qualifications after insert on qualifications
  referencing new table as new_rows for each statement execute function count_qualifications();
