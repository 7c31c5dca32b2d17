-- Whom no program of an organization may write to: addresses that bounced for good or complained, and who asked for no more of any.
-- applied_at is null until the waiting recipients are withdrawn.
create table organization_suppressions (
  organization_id text collate "C" not null references organizations,
  kind text not null check (kind in ('npi', 'email')),
  value text collate "C" not null,
  reason text not null check (reason in ('unsubscribed', 'operator', 'bounced', 'complained')),
  created_at timestamptz not null default clock_timestamp(),
  applied_at timestamptz,
  primary key (organization_id, kind, value)
);
create index organization_suppressions_to_apply on organization_suppressions (created_at) where applied_at is null;
