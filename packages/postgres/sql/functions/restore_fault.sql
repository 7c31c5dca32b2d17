-- Returns the reason why the database must not be used for sending; null if there is none.
-- 'restoring' until `ops restores finish`, and 'moved' while the server isn't the one that the workers last used.
-- It is stable, so that a statement reads the fault and the identity at one moment.
create or replace function restore_fault() returns text language plpgsql stable as $$
begin
  if exists (select from restores where finished_at is null) then
    return 'restoring';
  end if;
  return (select 'moved' from clock_watch where identity <> current_identity());
end
$$;
