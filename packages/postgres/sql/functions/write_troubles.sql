-- Writes the outcomes of calls that didn't arrive at the first attempt, and of all calls for rows of deliveries.
--
-- held are the endpoints that the worker still owns. It counts the outcomes in delivery_outcomes, together with those of deliveries that
-- arrived at their first attempt: all rows in one statement, because it locks them in one order.
-- isOpen: whether the worker owns the endpoint and its event is open. Nothing is written about an event of the log that isn't.
-- Deliveries that were rejected, got 410 or failed for the last time at an address or with secrets that have changed since then are due again immediately.
-- A trouble without an attempt is a call that wasn't made, or that failed by a defect of the service: it isn't counted, and its delivery is due again.
-- cause is the failure group of a failed call, and groups, at the first trouble of a cause, its possible groups (choose_failure_group). A delivery
-- that waits for its next attempt keeps that group.
-- Returns the ids of rows that the worker no longer owns, for which it wrote nothing, and of deliveries that are due again.
create or replace function write_troubles(worker uuid, held text[], troubles jsonb, arrivals text[])
returns table (id text, again boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  lost text[];
  repeated text[];
  failed jsonb;
  now_at timestamptz := clock_timestamp();
begin
  with trouble as materialized (
    select given.*, is_again, case when is_again or settlement = 'gone' then 'retry' else settlement end as state, exists (
      select from erased_events erased where erased.organization_id = "organizationId" and erased.event_id = "eventId"
    ) as is_erased
    from jsonb_to_recordset(troubles) as given (
      "isRow" boolean, "isOpen" boolean, "organizationId" text, id text, "endpointId" text, "eventId" text, version integer, settlement text,
      delay double precision, attempt jsonb, cause text, groups jsonb)
    left join webhook_endpoints endpoint on endpoint.id = "endpointId"
    cross join lateral (select settlement in ('rejected', 'gone', 'exhausted') and given.version < endpoint.version) changed (is_again)
  ), ours as materialized (
    -- offset 0 makes this a primary key look-up for each row, even if the planner expects few rows in the table.
    select trouble.*, "eventId" as event, "endpointId" as endpoint, row.*
    from trouble cross join lateral (
      select ctid as row_ctid, created_at, attempts, losses from deliveries
      where organization_id = "organizationId" and id = trouble.id and owner = worker
      offset 0
    ) row
    where "isRow"
  ), described as materialized (
    select cause, groups->'blank' as blank, choose_failure_group("organizationId", "endpointId", groups,
      dense_rank() over (partition by groups->'overflow'->>'id' order by cause) - 1) as exact
    from trouble where groups is not null
  ), added as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, attempts, due_at, group_id)
    select "organizationId", id, "endpointId", "eventId", coalesce((attempt->>'number')::int, 0),
      clock_timestamp() + make_interval(secs => coalesce(delay, 0)),
      (select case when is_erased then blank else exact end->>'id' from described where cause = trouble.cause)
    from trouble where "isOpen" and not "isRow" and state = 'retry'
    -- A change of its event types may have stored the event.
    on conflict do nothing
    returning organization_id, id
  ), retried as (
    update deliveries set attempts = coalesce((attempt->>'number')::int, ours.attempts), owner = null, owned_at = null,
      losses = case when attempt is null then ours.losses else 0 end,
      due_at = clock_timestamp() + make_interval(secs => coalesce(delay, 0)),
      group_id = coalesce(
        (select case when is_erased then blank else exact end->>'id' from described where cause = ours.cause), deliveries.group_id)
    from ours where state = 'retry' and deliveries.ctid = row_ctid and deliveries.owner = worker
    returning deliveries.organization_id, deliveries.id
  ), noted as (
    insert into delivery_attempts (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
    select organization_id, each.id, (attempt->>'number')::int, (attempt->>'startedAt')::timestamptz,
      (attempt->>'latencyMs')::int, (attempt->>'status')::int, attempt->>'outcome',
      case when not is_erased then attempt->>'response' end
    from (select * from added union all select * from retried) each
    join trouble on trouble."organizationId" = each.organization_id and trouble.id = each.id and attempt is not null
  ), finished as (
    delete from deliveries using ours
    where state <> 'retry' and deliveries.ctid = row_ctid and deliveries.owner = worker
    returning ours.*
  ), earlier as (
    delete from delivery_attempts made using finished
    where made.organization_id = "organizationId" and made.delivery_id = finished.id and (attempts > 0 or losses > 0)
    returning made.*
  ), whole as (
    select "organizationId" as organization_id, id, "endpointId" as endpoint_id, "eventId" as event_id, state, cause, is_erased, created_at,
      coalesce((
        select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
        from earlier where earlier.organization_id = "organizationId" and earlier.delivery_id = finished.id
      ), '[]') || attempt as attempts
    from finished
    union all
    select "organizationId", id, "endpointId", "eventId", state, cause, is_erased, clock_timestamp(), jsonb_build_array(attempt)
    from trouble where "isOpen" and not "isRow" and state <> 'retry'
  ), history as (
    -- A partner's response may repeat the body of an event that was erased meanwhile.
    select whole.*, case when is_erased
      then (select jsonb_agg(each || '{"response": null}') from jsonb_array_elements(attempts) each) else attempts end as kept_attempts
    from whole
  ), kept as (
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
    select organization_id, id, endpoint_id, event_id, kept_attempts, created_at from history where state = 'delivered'
  ), dead as (
    insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at)
    select organization_id, id, endpoint_id, event_id, state, kept_attempts,
      case when is_erased then blank else exact end->>'id', created_at
    from history join described using (cause)
    where state <> 'delivered'
    on conflict do nothing
    returning organization_id, id, reason
  ), written as (
    select organization_id, id from added union select organization_id, id from retried union select organization_id, id from dead
    union select "organizationId", id from finished
  ), settled as materialized (
    select trouble."organizationId" as organization_id, trouble."endpointId" as endpoint_id, cause, is_erased, dead.reason, made.*
    from written
    join trouble on trouble."organizationId" = written.organization_id and trouble.id = written.id and attempt is not null
    left join dead on dead.organization_id = written.organization_id and dead.id = written.id
    cross join lateral (
      select attempt->>'outcome' as outcome, (attempt->>'status')::int as status, (attempt->>'latencyMs')::int as latency
    ) made
  ), tallied as (
    select organization_id, endpoint_id, count(*) filter (where outcome = 'success') as delivered,
      count(*) filter (where outcome = 'client_error') as client_errors, count(*) filter (where outcome = 'server_error') as server_errors,
      count(*) filter (where status is not null and outcome not in ('success', 'client_error', 'server_error')) as other_statuses,
      count(*) filter (where status is null) as no_responses, count(reason) as dead_letters, count(*) as calls,
      array_agg(latency) as made
    from settled group by organization_id, endpoint_id
  ), arrived as (
    select arrivals[n] as organization_id, arrivals[n + 1] as endpoint_id, arrivals[n + 3]::int as count, arrivals[n + 4]::int[] as histogram
    from generate_series(1, cardinality(arrivals), 5) as n
  ), own as materialized (
    select organization_id, endpoint_id, coalesce(delivered, 0) + coalesce(count, 0) as delivered, coalesce(client_errors, 0) as client_errors,
      coalesce(server_errors, 0) as server_errors, coalesce(other_statuses, 0) as other_statuses, coalesce(no_responses, 0) as no_responses,
      coalesce(dead_letters, 0) as dead_letters, coalesce(calls, 0) + coalesce(count, 0) as calls,
      latency_histogram(made, histogram) as latencies
    from tallied full join arrived using (organization_id, endpoint_id)
  ), counted as (
    insert into delivery_outcomes as counted (
      organization_id, endpoint_id, at, delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters, latencies)
    select organization_id, endpoint_id, date_bin('5 minutes', now_at, 'epoch'),
      delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters, latencies
    from own order by endpoint_id
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = counted.delivered + excluded.delivered, client_errors = counted.client_errors + excluded.client_errors,
        server_errors = counted.server_errors + excluded.server_errors,
        other_statuses = counted.other_statuses + excluded.other_statuses,
        no_responses = counted.no_responses + excluded.no_responses, dead_letters = counted.dead_letters + excluded.dead_letters,
        latencies = add_counts(counted.latencies, excluded.latencies)
    returning organization_id, endpoint_id, delivered, delivered + client_errors + server_errors + other_statuses + no_responses as calls
  )
  select
    array(select id from trouble where "isRow" and not exists (
      select from (select organization_id, id from retried union all select "organizationId", id from finished) settled
      where settled.organization_id = "organizationId" and settled.id = trouble.id)),
    array(select id from trouble where is_again and ("isRow" or "endpointId" = any (held))),
    (select jsonb_agg(change) from (
      select organization_id, failure_group->>'id' as group_id, now_at as at, failures, counted.calls - own.calls as calls_before,
        counted.delivered - own.delivered as delivered_before, counted.delivered as delivered_then, reason, dead as opened, dead as stored,
        failure_group
      from (
        select organization_id, endpoint_id, cause, is_erased, reason, count(*) as failures, count(reason) as dead
        from settled where cause is not null group by organization_id, endpoint_id, cause, is_erased, reason
      ) each
      join described using (cause)
      cross join lateral (select case when is_erased then blank else exact end) chosen (failure_group)
      join own using (organization_id, endpoint_id) join counted using (organization_id, endpoint_id)
    ) change)
  into lost, repeated, failed;
  -- After delivery_outcomes, as in every statement that counts failures.
  perform count_failures(failed);
  if lost || repeated <> '{}' then
    return query select id, false from unnest(lost) as id union all select id, true from unnest(repeated) as id;
  end if;
end
$$;
