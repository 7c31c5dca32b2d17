-- Lets an inbound event into the inbox once for its organization and id, also when the partition with its body is gone.
--
-- A row that changed its partition would be lost, so nothing updates received_at.
create or replace function keep_inbox_key() returns trigger language plpgsql as $$
begin
  insert into inbox_keys values (new.organization_id, new.event_id, new.received_at) on conflict do nothing;
  if not found then
    return null;
  end if;
  return new;
end
$$;
