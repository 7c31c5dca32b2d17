-- Makes a worker the owner of enabled endpoints without a living owner, those of lost workers first.
--
-- Open events become rows of deliveries, without an owner until they are recovered.
-- Returns the number of taken endpoints, and the number of those from lost workers.
create or replace function take_endpoints(worker uuid, nobody uuid, alive uuid[], max_rows integer)
returns table (taken integer, taken_over integer)
language plpgsql as $$
#variable_conflict use_column
declare
  free text[];
begin
  -- The next statement reads the positions, so that it sees all writes before these rows were locked.
  with locked as materialized (
    select endpoint_id from endpoint_readers reader
    join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
    where enabled and (owner is null or owner <> all (alive))
    order by owner is null limit max_rows for update of reader skip locked
  )
  select coalesce(array_agg(endpoint_id), '{}') into free from locked;
  return query
  with reader as materialized (
    select endpoint_id, organization_id, owner, open, intended_at
    from unnest(free) as free (endpoint_id) join endpoint_readers using (endpoint_id)
    cross join lateral (select open, intended_at from reader_position(endpoint_id)) position
  ), kept as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at)
    select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(), nobody, intended_at
    from reader cross join unnest(open) as event_id
    -- A change of its event types has stored the recently read events.
    on conflict do nothing
  ), left_behind as (
    -- Also if its worker is alive again: the worker doesn't know the row, which was an event of the log.
    update deliveries set owner = nobody
    from reader where deliveries.endpoint_id = reader.endpoint_id and deliveries.owner = reader.owner
  ), owned as (
    update endpoint_readers set owner = worker from reader where endpoint_readers.endpoint_id = reader.endpoint_id
    returning reader.owner as before
  )
  select count(*)::integer, count(before)::integer from owned;
  perform update_positions(array_agg(id), array_agg(''::text), array_agg(array_to_string(open, ',')), array_agg(''::text), array_agg(''::text))
  from unnest(free) as free (id) cross join lateral reader_position(id) position where open <> '{}';
end
$$;
