-- Disables an enabled endpoint of a given version for the service. Returns its id, or null if it has changed.
--
-- The audit log records it as the operator's command. It runs as its owner: a worker needs no right to change endpoints, or to
-- write to the log.
create or replace function disable_endpoint(endpoint text, called integer, why text) returns text
language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  organization text;
  command text;
begin
  update webhook_endpoints set enabled = false, disabled_at = clock_timestamp(), disabled_reason = why
  where id = endpoint and version = called and enabled
  returning organization_id into organization;
  if not found then
    return null;
  end if;
  insert into audit_log (os_user, host, command, arguments, objects, organizations)
  values ('the service', coalesce(host(inet_client_addr()), 'local'), 'endpoints disable',
    json_build_object('endpoint', endpoint, 'reason', why), array[endpoint], array[organization])
  returning id into command;
  insert into audit_results (command_id, result) values (command, 'succeeded');
  return endpoint;
end
$$;
