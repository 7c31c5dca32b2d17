-- Records the mark of the server's timeline once, and returns its identity, which a restart must not change.
-- It doesn't wait for the first transaction, since all derive the same mark. If that is rolled back, a later one records the mark.
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
