-- Takes due rows of the worker's endpoints: first those of lost workers, then by due time, and replays last, at most max_replays of these.
--
-- A row that was lost alone_from times is taken by itself, because its call may have ended its workers.
create or replace function take_due(worker uuid, endpoints text[], max_rows integer[], max_replays integer[], alone_from integer)
returns table (
  endpoint_id text, organization_id text, version integer, id text, event_id text, body text, traceparent text, attempt integer,
  replay boolean, losses integer, taken_at double precision
)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  now_at constant timestamptz := clock_timestamp();
begin
  return query
  with due as materialized (
    select found.*
    from unnest(endpoints, max_rows, max_replays) as wanted (id, max_rows, max_replays)
    join endpoint_readers reader on reader.endpoint_id = wanted.id and reader.owner = worker
    join webhook_endpoints endpoint on endpoint.id = wanted.id and enabled
    cross join lateral (
      select *, row_number() over (order by class, due_at, id) as endpoint_rank, min(class) over () as first_class
      from (
        (select ctid as row_ctid, id, due_at, case when losses >= alone_from then 0 else 1 end as class from deliveries
          where endpoint_id = wanted.id and owner is null and losses > 0 and due_at <= now_at
          order by due_at, id limit wanted.max_rows)
        union all
        (select ctid, id, due_at, 2 from deliveries
          where endpoint_id = wanted.id and owner is null and not replay and losses = 0 and due_at <= now_at
          order by due_at, id limit wanted.max_rows)
        union all
        (select ctid, id, due_at, 3 from deliveries
          where endpoint_id = wanted.id and owner is null and replay and losses = 0 and due_at <= now_at
          order by due_at, id limit wanted.max_replays)
      ) waiting
    ) found
    where endpoint_rank <= case when first_class = 0 then 1 else wanted.max_rows end
  ), taken as (
    update deliveries set owner = worker, owned_at = now_at
    from due where deliveries.ctid = row_ctid and deliveries.owner is null
    returning deliveries.*, class, due.due_at as fell_due_at
  )
  select taken.endpoint_id, taken.organization_id, endpoint.version, taken.id, taken.event_id, event.body, event.traceparent,
    taken.attempts + 1, taken.replay, taken.losses, extract(epoch from now_at)::double precision * 1000
  from taken
  join webhook_endpoints endpoint on endpoint.id = taken.endpoint_id
  -- Single look-ups through the primary key of each partition.
  cross join lateral (
    select body, traceparent from events where organization_id = taken.organization_id and id = taken.event_id offset 0
  ) event
  order by class, fell_due_at, taken.id;
end
$$;
