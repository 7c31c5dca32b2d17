-- When a recipient asked to get e-mails again, and which suppressions that lifts: docs/decisions/0070-who-unsubscribed-may-come-back.md.
alter table unsubscriptions
  add column revoked_at timestamptz,
  add column lifted_at timestamptz;
create index unsubscriptions_to_lift on unsubscriptions (revoked_at) where revoked_at is not null and lifted_at is null;
alter table suppressions add column by_unsubscription boolean not null default false;
alter table organization_suppressions add column by_unsubscription boolean not null default false;
