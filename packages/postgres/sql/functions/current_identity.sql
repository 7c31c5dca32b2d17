-- Returns the server's system identifier, timeline and the timeline's mark; null during recovery, and on servers that hide them.
-- A promotion changes the timeline, another cluster has another identifier, and another server promoted to the same timeline number has another mark.
create or replace function current_identity() returns text language plpgsql volatile as $$
declare
  here text;
begin
  if pg_is_in_recovery() then
    return null;
  end if;
  here := (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
  -- Until it is recorded, all sessions derive the same mark: the position of the promotion, and the start of the server.
  return here || '/' || coalesce(
    (select mark from timelines where timeline = here),
    concat(replace(pg_last_wal_replay_lsn()::text, '/', '-'), '@', extract(epoch from pg_postmaster_start_time()))
  );
exception when insufficient_privilege or feature_not_supported or undefined_function or undefined_table then
  return null;
end
$$;
