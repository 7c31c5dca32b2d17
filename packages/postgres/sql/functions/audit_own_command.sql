-- Records among the commands of operators what the service does by itself. It runs as its owner: a worker may not write what operators did.
create or replace function audit_own_command(command text, arguments json, organization_id text)
returns void language sql security definer set search_path = public, pg_temp as $$
  with begun as (
    insert into audit_log (role, os_user, host, command, arguments, organizations)
    values (session_user, session_user, 'worker', command, arguments, array[organization_id]) returning id
  )
  insert into audit_results (command_id, result) select id, 'succeeded' from begun
$$;
