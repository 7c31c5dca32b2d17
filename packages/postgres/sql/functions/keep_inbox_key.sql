-- Accepts an inbound event once for its organization and id, even after the partition with its body was dropped.
-- A row that changes its partition would be lost, so received_at never changes.
create or replace function keep_inbox_key() returns trigger language plpgsql as $$
begin
  insert into inbox_keys values (new.organization_id, new.event_id, new.received_at) on conflict do nothing;
  if not found then
    return null;
  end if;
  return new;
end
$$;
