-- Writes how far each endpoint may have called and which events are open, and the outcomes of earlier calls.
--
-- Deliveries that arrived at their first attempt share one row of delivered. Each trouble is written by write_troubles. Both are counted in
-- delivery_outcomes: arrivals and latencies are those of the batches by endpoint, in the order of endpoints.
-- It returns the endpoints and the ids of deliveries that are no longer the worker's, for which it wrote nothing, and those of
-- deliveries that are due again, because their endpoint has changed.
create or replace function write_progress(
  worker uuid, endpoints text[], still_open text[], positions text[], position_ids text[],
  breaker_endpoints text[], breaker_versions integer[], failures integer[], allowances integer[], probe_backoffs integer[],
  batch_endpoints text[], first_ids text[], last_ids text[], batches text[], troubles jsonb,
  arrived_organizations text[], arrived_endpoints text[], arrivals integer[], latencies text[]
)
returns table (id text, again boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  held text[];
begin
  select coalesce(array_agg(endpoint_id), '{}') into held from (
    select endpoint_id from endpoint_readers
    where endpoint_id = any (endpoints || breaker_endpoints) and owner = worker order by endpoint_id for no key update
  ) locked;
  -- By a statement of its own, which sees what was written until the rows were locked.
  perform write_positions(array_agg(id), array_agg(open), array_agg(position_at), array_agg(position_id))
  from unnest(endpoints, still_open, positions, position_ids) as progress (id, open, position_at, position_id)
  where id = any (held);

  if cardinality(breaker_endpoints) > 0 then
    update endpoint_readers reader set failures = breaker.failures, allowance = breaker.allowance,
      probe_at = clock_timestamp() + make_interval(secs => breaker.probe_wait / 1000.0)
    from unnest(breaker_endpoints, breaker_versions, write_progress.failures, allowances, probe_backoffs)
      as breaker (id, version, failures, allowance, probe_wait)
    -- What was learned before the endpoint changed no longer counts.
    join webhook_endpoints endpoint on endpoint.id = breaker.id and endpoint.version = breaker.version
    where reader.endpoint_id = breaker.id and owner = worker;
  end if;

  if cardinality(batch_endpoints) > 0 then
    insert into delivered (organization_id, id, endpoint_id, first_id, deliveries)
    select organization_id, last_id, batch.endpoint_id, first_id,
      case when exists (select from erased_events erased where erased.organization_id = endpoint_readers.organization_id) then (
        -- What a partner answered to an event that was erased meanwhile may repeat its body.
        select json_agg(case when erased.event_id is null then delivery
          else jsonb_set(delivery::jsonb, '{attempt,response}', 'null')::json end)
        from json_array_elements(deliveries::json) delivery
        left join erased_events erased
          on erased.organization_id = endpoint_readers.organization_id and erased.event_id = delivery->>'eventId'
      ) else deliveries::json end
    from unnest(batch_endpoints, first_ids, last_ids, batches) as batch (endpoint_id, first_id, last_id, deliveries)
    join endpoint_readers using (endpoint_id)
    where batch.endpoint_id = any (held);
  end if;

  return query select id, false from unnest(endpoints) as given (id) where id <> all (held);
  if jsonb_array_length(troubles) > 0 then
    return query select * from write_troubles(
      worker, held, troubles, arrived_organizations, arrived_endpoints, arrivals, latencies);
  elsif cardinality(arrived_endpoints) > 0 then
    insert into delivery_outcomes as counted (organization_id, endpoint_id, at, delivered, latencies)
    select organization, endpoint, date_bin('5 minutes', clock_timestamp(), 'epoch'), count, histogram::int[]
    from unnest(arrived_organizations, arrived_endpoints, arrivals, write_progress.latencies) as arrived (organization, endpoint, count, histogram)
    where endpoint = any (held)
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = counted.delivered + excluded.delivered, latencies = add_counts(counted.latencies, excluded.latencies);
  end if;
end
$$;
