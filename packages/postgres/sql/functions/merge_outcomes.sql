-- Merges outcomes that are older than two days into one row for each endpoint and hour. Returns how many rows it merged.
--
-- An organization that is frozen is left alone: its rows come from another server, or go to one.
create or replace function merge_outcomes(now_at timestamptz, max_rows integer) returns integer language sql as $$
  with old as materialized (
    select ctid as row_ctid from delivery_outcomes
    where seconds = 300 and at < date_trunc('hour', now_at - interval '2 days', 'UTC')
      and organization_id not in (select id from organizations where frozen_at is not null)
    order by at limit max_rows for update skip locked
  ), merged as (
    delete from delivery_outcomes where ctid = any (array(select row_ctid from old))
    returning *, date_trunc('hour', at, 'UTC') as hour
  ), latency as (
    select endpoint_id, hour, array_agg(total order by bucket) as histogram from (
      select endpoint_id, hour, bucket, sum(count)::int as total
      from merged cross join unnest(latencies) with ordinality as each (count, bucket)
      group by endpoint_id, hour, bucket
    ) counted
    group by endpoint_id, hour
  ), added as (
    insert into delivery_outcomes as held (
      organization_id, endpoint_id, at, seconds, delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters,
      latencies)
    select organization_id, endpoint_id, hour, 3600, sum(delivered), sum(client_errors), sum(server_errors), sum(other_statuses),
      sum(no_responses), sum(dead_letters), coalesce(histogram, '{}')
    from merged left join latency using (endpoint_id, hour)
    group by organization_id, endpoint_id, hour, histogram
    order by hour, endpoint_id
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = held.delivered + excluded.delivered, client_errors = held.client_errors + excluded.client_errors,
        server_errors = held.server_errors + excluded.server_errors, other_statuses = held.other_statuses + excluded.other_statuses,
        no_responses = held.no_responses + excluded.no_responses, dead_letters = held.dead_letters + excluded.dead_letters,
        latencies = add_counts(held.latencies, excluded.latencies)
  )
  select count(*)::int from merged
$$;
