-- Gives a campaign that begins to send the first turn, and so its organization. A trigger, because processes of the last release know of no turns.
create or replace function begin_turns() returns trigger language plpgsql as $$
begin
  insert into campaign_turns (organization_id, campaign_id, next_at) values (new.organization_id, new.id, '-infinity')
  on conflict (organization_id, campaign_id) do update set next_at = excluded.next_at;
  insert into organization_turns (organization_id, next_at) values (new.organization_id, '-infinity')
  on conflict (organization_id) do update set next_at = excluded.next_at;
  return null;
end
$$;
