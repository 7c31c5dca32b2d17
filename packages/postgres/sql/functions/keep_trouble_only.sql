-- Drops deliveries that a process of the release before writes for each event and endpoint.
-- The owner of the endpoint reads the same event from the log.
create or replace function keep_trouble_only() returns trigger language plpgsql as $$
begin
  return case when new.from_log or new.replay then new end;
end
$$;
