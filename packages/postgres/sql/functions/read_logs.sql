-- Reads the next events of the worker's endpoints, after the position of possibly started calls.
--
-- It is a function because planning the statement takes longer than running it.
-- The result as a whole isn't ordered, because a sort would move the bodies. Each endpoint's events are in the order of the log.
create or replace function read_logs(worker uuid, endpoints text[], limits integer[])
returns table (
  endpoint_id text, organization_id text, version integer, event_id text, body text, traceparent text, emitted_at timestamptz,
  read_at double precision
)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off as $$
#variable_conflict use_column
declare
  since timestamptz;
  until timestamptz;
begin
  -- This excludes partitions outside the range. No stamp is later than its organization's clock.
  select min(begun_at), greatest(clock_timestamp(), max(last)) into since, until
  from unnest(endpoints) as wanted (id)
  join endpoint_readers reader on reader.endpoint_id = wanted.id
  join organization_clock clock on clock.organization_id = reader.organization_id
  cross join lateral reader_position(wanted.id) position;
  return query
  select reader.endpoint_id, reader.organization_id, version, event.id, body, traceparent, emitted_at,
    extract(epoch from clock_timestamp())::double precision * 1000
  from unnest(endpoints, limits) as wanted (id, max_rows)
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
  ) event
  where owner = worker and enabled;
end
$$;
