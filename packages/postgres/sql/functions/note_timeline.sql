-- Notes the mark of the timeline that the server is on, once, and returns its identity: a restart must not change it.
-- The first transaction is not waited for, since all derive the same. If it is rolled back, a later one notes the mark.
create or replace function note_timeline() returns text language plpgsql volatile as $$
declare
  identity constant text := current_identity();
  here constant text := substring(identity from '^[^/]+/[^/]+');
begin
  if not exists (select from timelines where timeline = here) and pg_try_advisory_xact_lock(hashtextextended('timelines', 0)) then
    insert into timelines select here, split_part(identity, '/', 3) where here is not null on conflict do nothing;
  end if;
  return identity;
end
$$;
