-- Returns why nothing may be sent from the database; null when all may.
-- It is 'restoring' until `ops restores finish`, and 'moved' while the server is not the one that the workers last saw.
create or replace function restore_fault() returns text language plpgsql volatile as $$
begin
  if exists (select from restores where finished_at is null) then
    return 'restoring';
  end if;
  return (select 'moved' from database_identity where identity <> current_identity());
end
$$;
