-- Where PostgreSQL runs the database, as the workers last saw it: its system identifier and timeline. There is at most one row.
create table database_identity (
  is_only boolean primary key default true check (is_only),
  identity text not null,
  seen_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);

-- Restores of the database to a point in the past. While one is not finished, the workers send nothing.
-- last_transaction_at is the commit that PostgreSQL replayed last, where it still knows.
create table restores (
  id text collate "C" primary key,
  restored_to timestamptz not null,
  last_transaction_at timestamptz,
  begun_at timestamptz not null default clock_timestamp(),
  mail_log_read_at timestamptz,
  finished_at timestamptz
);
create unique index restores_under_way on restores ((finished_at is null)) where finished_at is null;

-- The clock of each organization as it was restored, and the time that it was moved to.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.
create table restored_clocks (
  organization_id text collate "C" not null,
  restore_id text collate "C" not null references restores,
  restored_at timestamptz not null,
  fenced_at timestamptz not null,
  primary key (organization_id, restore_id)
);

-- The campaigns that a restore paused, with the status that they had.
create table restored_campaigns (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  restore_id text collate "C" not null references restores,
  status text not null,
  primary key (organization_id, campaign_id, restore_id)
);
