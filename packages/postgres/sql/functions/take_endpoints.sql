-- Makes a worker the owner of enabled endpoints that no living worker owns, those that a lost worker left first.
--
-- What was open becomes rows of deliveries, owned by nobody until they are recovered.
-- It returns how many endpoints were taken, and how many of them from lost workers.
create or replace function take_endpoints(worker uuid, nobody uuid, alive uuid[], max_rows integer)
returns table (taken integer, taken_over integer)
language plpgsql as $$
#variable_conflict use_column
declare
  free text[];
begin
  -- The positions are read by the next statement, which sees what was written until these rows were locked.
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
    -- A change of its event types has kept what was read just before.
    on conflict do nothing
  ), left_behind as (
    -- Also should its worker live again: it knows nothing of a row that was an event of the log to it.
    update deliveries set owner = nobody
    from reader where deliveries.endpoint_id = reader.endpoint_id and deliveries.owner = reader.owner
  ), owned as (
    update endpoint_readers set owner = worker from reader where endpoint_readers.endpoint_id = reader.endpoint_id
    returning reader.owner as before
  )
  select count(*)::integer, count(before)::integer from owned;
  perform write_positions(array_agg(id), array_agg(''::text), array_agg(''::text), array_agg(''::text)) from unnest(free) as free (id);
end
$$;
