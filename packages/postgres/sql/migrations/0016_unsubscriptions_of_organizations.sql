-- What a newer worker has to apply after one of the last release.
create index concurrently unsubscriptions_of_organizations on unsubscriptions (organization_asked_at)
  where organization_asked_at is not null and organization_suppressed_at is null;
