-- Finds the quarantined messages of one campaign beside those of the others.
create index concurrently messages_quarantined_of_campaign on messages (organization_id, campaign_id, quarantined_at, recipient_id)
  where quarantined_at is not null;
