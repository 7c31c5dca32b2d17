-- Raises the versions of an organization's endpoints when a secret that signs for them begins or ends.
create or replace function raise_endpoint_versions() returns trigger language plpgsql as $$
begin
  update webhook_endpoints set version = version + 1 where organization_id = new.organization_id;
  return null;
end
$$;
