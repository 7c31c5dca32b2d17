-- Counts recipients who opened or clicked for the first time.
create or replace function count_new_hits() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into campaign_count_changes (organization_id, campaign_id, subject, opened, clicked, unsuspected_opened, unsuspected_clicked)
  select hit.organization_id, campaign_id, coalesce(test_subject, ''),
    count(*) filter (where type = 'outreach.email_opened'), count(*) filter (where type = 'outreach.email_clicked'),
    count(unsuspected_date) filter (where type = 'outreach.email_opened'),
    count(unsuspected_date) filter (where type = 'outreach.email_clicked')
  from new_rows hit cross join lateral (
    select campaign_id, test_subject from recipients
    where organization_id = hit.organization_id and id = hit.recipient_id limit 1
  ) recipient
  group by hit.organization_id, campaign_id, test_subject;
  return null;
end
$$;
