-- Counts what an update changed of recipients. Most updates change no count, and then nothing is written.
create or replace function count_recipients() returns trigger language plpgsql as $$
begin
  insert into campaign_count_changes
    (organization_id, campaign_id, subject, hour, recipients, published, withdrawn, sent, bounced, answered)
  select * from (
    select organization_id, campaign_id, coalesce(test_subject, '') as subject, date_trunc('hour', max(updated_at), 'UTC') as hour,
      sum(sign) as recipients,
      coalesce(sum(sign) filter (where published_at is not null), 0) as published,
      coalesce(sum(sign) filter (where withdrawn_at is not null), 0) as withdrawn,
      coalesce(sum(sign) filter (where sent_at is not null), 0) as sent,
      coalesce(sum(sign) filter (where bounced_at is not null), 0) as bounced,
      coalesce(sum(sign) filter (where coalesce(sent_at, bounced_at) is not null), 0) as answered
    from (
      select 1 as sign, organization_id, campaign_id, test_subject, updated_at, published_at, withdrawn_at, sent_at, bounced_at from new_rows
      union all
      select -1, organization_id, campaign_id, test_subject, updated_at, published_at, withdrawn_at, sent_at, bounced_at from old_rows
    ) each
    group by organization_id, campaign_id, test_subject
  ) change
  where recipients <> 0 or published <> 0 or withdrawn <> 0 or sent <> 0 or bounced <> 0 or answered <> 0;
  return null;
end
$$;
