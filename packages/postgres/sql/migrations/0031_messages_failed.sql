-- Finds why messages of a campaign were not sent without reading those that are merely waiting.
create index concurrently messages_failed on messages (organization_id, campaign_id, failure_class, failure_code)
  where failure_class is not null;
