-- Counts recipients who opened or clicked before, as a bot as it seemed, and now without that suspicion.
create or replace function count_hits() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into campaign_count_changes (organization_id, campaign_id, subject, unsuspected_opened, unsuspected_clicked)
  select hit.organization_id, campaign_id, coalesce(test_subject, ''),
    count(*) filter (where hit.type = 'outreach.email_opened'), count(*) filter (where hit.type = 'outreach.email_clicked')
  from new_rows hit
  join old_rows earlier on earlier.organization_id = hit.organization_id and earlier.recipient_id = hit.recipient_id and earlier.type = hit.type
  cross join lateral (
    select campaign_id, test_subject from recipients
    where organization_id = hit.organization_id and id = hit.recipient_id limit 1
  ) recipient
  where hit.unsuspected_date is not null and earlier.unsuspected_date is null
  group by hit.organization_id, campaign_id, test_subject;
  return null;
end
$$;
