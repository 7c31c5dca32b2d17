-- Writes the outcomes of calls. The events of the log are no longer open.
--
-- Arrays of text cost less than jsonb for large writes. Their elements follow one another, row by row:
-- closed: an endpoint, and the events that were called for, separated by commas
-- batches: an organization, an endpoint, the first and the last id of deliveries, and these as JSON
-- arrivals: an organization, an endpoint, the event of one of its deliveries in batches, their number, and a histogram of their
--     latencies; by endpoint
-- A worker that doesn't receive the reply writes the same again: either all outcomes of an endpoint are written, or none. Events that
-- are no longer open, and rows that the worker no longer owns, count only the first time. After a crash of the database, or on a standby that
-- became primary, events may not be open any more without an outcome: they are read again, and so their outcomes aren't written.
-- Deliveries that arrived at their first attempt share one row of delivered. write_troubles writes all other outcomes. Both are counted in
-- delivery_outcomes, in the order of endpoints.
-- Returns endpoints and delivery ids that the worker no longer owns, for which it wrote nothing, and the ids of
-- deliveries that are due again because their endpoint has changed. An endpoint that returned 410 is disabled, which changes it: its id is
-- among them.
create or replace function write_outcomes(
  worker uuid, closed text[], breakers jsonb, batches text[], arrivals text[], troubles jsonb
)
returns table (id text, again boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  endpoints text[] := array(select closed[n] from generate_series(1, cardinality(closed), 2) as n);
  held text[];
begin
  -- Before the readers are locked, in the order of every change of an endpoint and its reader.
  if jsonb_path_exists(troubles, '$[*] ? (@.settlement == "gone")') then
    return query select endpoint, true from (
      select disable_endpoint("endpointId", called, 'gone') as endpoint from (
        select distinct "endpointId", version as called
        from jsonb_to_recordset(troubles) as trouble ("endpointId" text, version integer, settlement text)
        where settlement = 'gone' order by "endpointId"
      ) gone
    ) disabled where endpoint is not null;
  end if;
  select coalesce(array_agg(endpoint_id), '{}') into held from (
    select endpoint_id from endpoint_readers
    where endpoint_id = any (endpoints || array(select breaker->>'endpointId' from jsonb_array_elements(breakers) as breaker))
      and owner = worker
    order by endpoint_id for no key update
  ) locked;
  -- Separate statements, which see all writes before the rows were locked.
  if cardinality(arrivals) > 0 then
    arrivals := array(
      select arrivals[n + i] from generate_series(1, cardinality(arrivals), 5) as n
      cross join lateral reader_position(arrivals[n + 1]) position cross join generate_series(0, 4) as i
      where arrivals[n + 1] = any (held) and arrivals[n + 2] = any (position.open)
      order by n, i);
  end if;
  if jsonb_array_length(troubles) > 0 then
    troubles := (
      select jsonb_agg(trouble || jsonb_build_object('isOpen', trouble->>'endpointId' = any (held) and exists (
        select from reader_position(trouble->>'endpointId') position where trouble->>'eventId' = any (position.open))))
      from jsonb_array_elements(troubles) as trouble);
  end if;
  perform update_positions(
    array_agg(closed[n]), array_agg(''::text), array_agg(closed[n + 1]), array_agg(''::text), array_agg(''::text))
  from generate_series(1, cardinality(closed), 2) as n where closed[n] = any (held);

  if jsonb_array_length(breakers) > 0 then
    update endpoint_readers reader set failures = breaker.failures, allowance = breaker.allowance,
      probe_at = clock_timestamp() + make_interval(secs => "probeInMs" / 1000.0)
    from jsonb_to_recordset(breakers)
      as breaker ("endpointId" text, version integer, failures integer, allowance integer, "probeInMs" double precision)
    -- Outcomes from before the endpoint changed no longer count.
    join webhook_endpoints endpoint on endpoint.id = "endpointId" and endpoint.version = breaker.version
    where reader.endpoint_id = "endpointId" and owner = worker;
  end if;

  if cardinality(batches) > 0 then
    insert into delivered (organization_id, endpoint_id, first_id, id, deliveries)
    select batches[n], batches[n + 1], batches[n + 2], batches[n + 3],
      case when exists (select from erased_events where organization_id = batches[n]) then (
        -- A partner's response may repeat the body of an event that was erased meanwhile.
        select json_agg(case when erased.event_id is null then delivery
          else jsonb_set(delivery::jsonb, '{attempt,response}', 'null')::json end)
        from json_array_elements(batches[n + 4]::json) delivery
        left join erased_events erased on erased.organization_id = batches[n] and erased.event_id = delivery->>'eventId'
      ) else batches[n + 4]::json end
    from generate_series(1, cardinality(batches), 5) as n
    where batches[n + 1] = any (arrivals);
  end if;

  return query select id, false from unnest(endpoints) as given (id) where id <> all (held);
  if jsonb_array_length(troubles) > 0 then
    return query select * from write_troubles(worker, held, troubles, arrivals);
  elsif cardinality(arrivals) > 0 then
    insert into delivery_outcomes as counted (organization_id, endpoint_id, at, delivered, latencies)
    select arrivals[n], arrivals[n + 1], date_bin('5 minutes', clock_timestamp(), 'epoch'), arrivals[n + 3]::int, arrivals[n + 4]::int[]
    from generate_series(1, cardinality(arrivals), 5) as n
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = counted.delivered + excluded.delivered, latencies = add_counts(counted.latencies, excluded.latencies);
  end if;
end
$$;
