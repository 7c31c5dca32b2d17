-- Begins the counts of a new campaign.
create or replace function count_campaign() returns trigger language plpgsql as $$
begin
  insert into campaign_counts (organization_id, campaign_id) values (new.organization_id, new.id) on conflict do nothing;
  return null;
end
$$;
