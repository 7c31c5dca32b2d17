-- Reads the next events of the worker's endpoints, and records that calls for them may start: they are open, and the positions pass them.
--
-- known lists the open events that the worker has of each endpoint, separated by commas. Any further open ones are returned again, because it
-- didn't receive the reply to an earlier reading.
-- The readers are locked after their events were found, so that endpoints without new events aren't written.
-- It is a function because planning the statement takes longer than running it.
-- The result as a whole isn't ordered, because a sort would move the bodies. Each endpoint's new events are in the order of the log.
create or replace function begin_calls(worker uuid, endpoints text[], limits integer[], known text[])
returns table (
  endpoint_id text, organization_id text, version integer, event_id text, body text, traceparent text, emitted_at timestamptz,
  read_at double precision
)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off as $$
#variable_conflict use_column
declare
  since timestamptz;
  until timestamptz;
begin
  -- Calls don't wait for the disk: the next written outcome flushes this record too. Without it, the events are read again.
  perform set_config('synchronous_commit', 'off', true);
  -- This excludes partitions outside the range. No stamp is later than its organization's clock.
  select min(begun_at), greatest(clock_timestamp(), max(last)) into since, until
  from unnest(endpoints) as wanted (id)
  join endpoint_readers reader on reader.endpoint_id = wanted.id
  join organization_clock clock on clock.organization_id = reader.organization_id
  cross join lateral reader_position(wanted.id) position;
  return query
  with found as materialized (
    select reader.endpoint_id, reader.organization_id, version, event.id, body, traceparent, emitted_at
    from unnest(endpoints, limits, known) as wanted (id, max_rows, known)
    join endpoint_readers reader on reader.endpoint_id = wanted.id
    join webhook_endpoints endpoint on endpoint.id = wanted.id
    cross join lateral reader_position(wanted.id) position
    cross join lateral (
      (select id, emitted_at, body, traceparent from events
        where event_types is null and organization_id = reader.organization_id
          and emitted_at >= since and emitted_at <= until and emitted_at >= begun_at
          and (emitted_at, id) > (begun_at, begun_id)
        order by emitted_at, id limit wanted.max_rows)
      union all
      (select each.* from unnest(event_types) as type_of (type)
        cross join lateral (
          select id, emitted_at, body, traceparent from events
          where organization_id = reader.organization_id and type = type_of.type
            and emitted_at >= since and emitted_at <= until and emitted_at >= begun_at
          and (emitted_at, id) > (begun_at, begun_id)
          -- Also ordered by type, so that a rare type is read from events_by_type.
          order by type, emitted_at, id limit wanted.max_rows
        ) each
        order by emitted_at, id limit wanted.max_rows)
      union all
      select id, emitted_at, body, traceparent from events
      where not open <@ string_to_array(wanted.known, ',') and organization_id = reader.organization_id
        and id = any (open) and id <> all (string_to_array(wanted.known, ','))
    ) event
    where owner = worker and enabled
  ), held as materialized (
    select coalesce(jsonb_object_agg(endpoint_id, true), '{}') as endpoints from (
      select endpoint_id from endpoint_readers
      where endpoint_id = any (array(select endpoint_id from found)) and owner = worker
      order by endpoint_id for no key update
    ) locked
  ), begun as materialized (
    select update_positions(array_agg(endpoint_id), array_agg(array_to_string(ids, ',')), array_agg(''::text), array_agg(last::text),
      array_agg(ids[cardinality(ids)]))
    from (
      select endpoint_id, array_agg(id order by emitted_at, id) as ids, max(emitted_at) as last
      from found cross join held where held.endpoints ? endpoint_id group by endpoint_id
    ) each
    having count(*) > 0
  )
  select endpoint_id, organization_id, version, id, body, traceparent, emitted_at, extract(epoch from clock_timestamp())::double precision * 1000
  from found cross join held cross join (select count(*) from begun) written
  where held.endpoints ? endpoint_id;
end
$$;
