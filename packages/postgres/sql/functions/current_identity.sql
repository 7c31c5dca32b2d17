-- Returns the system identifier and the timeline of the server: a promotion changes the timeline, and another cluster has another identifier.
-- It returns null during recovery, and on servers that do not tell.
create or replace function current_identity() returns text language plpgsql volatile as $$
begin
  if pg_is_in_recovery() then
    return null;
  end if;
  return (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
exception when insufficient_privilege or feature_not_supported or undefined_function then
  return null;
end
$$;
