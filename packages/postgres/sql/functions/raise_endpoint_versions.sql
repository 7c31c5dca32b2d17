-- Raises the versions of the endpoints of a secret that starts or ends.
create or replace function raise_endpoint_versions() returns trigger language plpgsql as $$
begin
  update webhook_endpoints set version = version + 1
  where organization_id = new.organization_id
    and (id = new.endpoint_id or new.endpoint_id is null and shared_secrets_until > clock_timestamp());
  return null;
end
$$;
