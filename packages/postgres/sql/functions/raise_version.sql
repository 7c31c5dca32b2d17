-- Raises an endpoint's version. A trigger, so that no change of an endpoint can omit it.
create or replace function raise_version() returns trigger language plpgsql as $$
begin
  new.version := old.version + 1;
  if new.url <> old.url then
    new.address_since := clock_timestamp();
  end if;
  return new;
end
$$;
