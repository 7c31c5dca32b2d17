-- Keeps what the gauges of the deployment and of each organization read, every five minutes, for the sparklines of the operator console.
create table gauge_samples (
  -- Empty for the whole deployment, which has a row for each time; an organization has none when all its gauges are 0.
  organization_id text collate "C" not null,
  sampled_at timestamptz not null,
  -- The e-mails of the five minutes before.
  sent integer not null,
  oldest_due_seconds integer not null,
  breakers_open integer not null,
  dead_letters integer not null,
  inbox_quarantined integer not null,
  domains_refusing integer not null,
  primary key (organization_id, sampled_at)
);
create index gauge_samples_by_age on gauge_samples (sampled_at);
