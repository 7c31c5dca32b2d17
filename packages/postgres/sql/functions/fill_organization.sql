-- Fills in the organization of an endpoint's position, which the last release does not give.
create or replace function fill_organization() returns trigger language plpgsql as $$
begin
  new.organization_id := (select organization_id from webhook_endpoints where id = new.endpoint_id);
  return new;
end
$$;
