-- Counts messages that left the queue.
create or replace function count_gone_messages() returns trigger language plpgsql as $$
begin
  insert into campaign_count_changes (organization_id, campaign_id, queued, deferred, unknown, quarantined)
  select organization_id, campaign_id, count(quarantined_at) - count(*), - count(*) filter (where attempts > 0),
    - count(*) filter (where unknown_outcomes > 0 and quarantined_at is null), - count(quarantined_at)
  from old_rows group by organization_id, campaign_id;
  return null;
end
$$;
