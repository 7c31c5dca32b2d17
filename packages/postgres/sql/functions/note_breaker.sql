-- Stores the newest hundred openings and closings of an endpoint's breaker. A trigger, because workers and operators change breakers.
create or replace function note_breaker() returns trigger language plpgsql as $$
begin
  insert into breaker_changes (organization_id, endpoint_id, changed_at, breaker)
  values (new.organization_id, new.endpoint_id, clock_timestamp(), case when new.allowance is null then 'closed' else 'open' end)
  on conflict do nothing;
  delete from breaker_changes
  where organization_id = new.organization_id and endpoint_id = new.endpoint_id and changed_at <= (
    select changed_at from breaker_changes
    where organization_id = new.organization_id and endpoint_id = new.endpoint_id
    order by changed_at desc offset 100 limit 1
  );
  return null;
end
$$;
