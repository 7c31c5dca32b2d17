-- Whether who unsubscribed wants no more of any program of the organization, and when that was applied. A worker of the last release applies
-- the request for the program alone; a newer one then applies it for the organization.
alter table unsubscriptions
  add column if not exists organization_asked_at timestamptz,
  add column if not exists organization_suppressed_at timestamptz;
