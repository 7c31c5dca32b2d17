-- Releases a worker's endpoints. The worker keeps its calls until it has settled them, as rows of deliveries.
--
-- calling lists the events of each endpoint with possibly started calls, separated by commas. unbegun are rows that the worker has taken,
-- without a started call. From now on the other calls count for the endpoint's current address.
create or replace function hand_over(worker uuid, endpoints text[], calling text[], unbegun text[]) returns void
language plpgsql as $$
#variable_conflict use_column
declare
  held text[];
begin
  select coalesce(array_agg(endpoint_id), '{}') into held from (
    select endpoint_id from endpoint_readers where endpoint_id = any (endpoints) and owner = worker order by endpoint_id for update
  ) locked;
  with reader as materialized (
    select endpoint_id, organization_id, open, string_to_array(given.calling, ',') as calling
    from unnest(endpoints, calling) as given (endpoint_id, calling) join endpoint_readers using (endpoint_id)
    cross join lateral (select open from reader_position(endpoint_id)) position
    where endpoint_id = any (held)
  ), kept as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at)
    select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(),
      case when event_id = any (calling) then worker end, case when event_id = any (calling) then clock_timestamp() end
    from reader cross join unnest(open) as event_id
    -- A change of its event types has stored the recently read events.
    on conflict do nothing
  ), given_back as (
    update deliveries set owner = case when id <> all (unbegun) then worker end,
      owned_at = case when id <> all (unbegun) then clock_timestamp() end
    where owner = worker and endpoint_id = any (held)
  )
  update endpoint_readers set owner = null where endpoint_id = any (held);
  perform update_positions(array_agg(id), array_agg(''::text), array_agg(array_to_string(open, ',')), array_agg(''::text), array_agg(''::text))
  from unnest(held) as held (id) cross join lateral reader_position(id) position where open <> '{}';
end
$$;
