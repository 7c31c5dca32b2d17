-- Counts messages that were queued.
create or replace function count_new_messages() returns trigger language plpgsql as $$
begin
  insert into campaign_count_changes (organization_id, campaign_id, queued, deferred, unknown, quarantined)
  select organization_id, campaign_id, count(*) - count(quarantined_at), count(*) filter (where attempts > 0),
    count(*) filter (where unknown_outcomes > 0 and quarantined_at is null), count(quarantined_at)
  from new_rows group by organization_id, campaign_id;
  return null;
end
$$;
