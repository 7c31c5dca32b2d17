-- Counts recipients that were added.
create or replace function count_new_recipients() returns trigger language plpgsql as $$
begin
  insert into campaign_count_changes
    (organization_id, campaign_id, subject, hour, recipients, published, withdrawn, sent, bounced, answered)
  select organization_id, campaign_id, coalesce(test_subject, ''), date_trunc('hour', max(updated_at), 'UTC'), count(*),
    count(published_at), count(withdrawn_at), count(sent_at), count(bounced_at), count(coalesce(sent_at, bounced_at))
  from new_rows group by organization_id, campaign_id, test_subject;
  return null;
end
$$;
