-- Writes the outcomes of calls that did not arrive at the first attempt, and of all calls for rows of deliveries.
--
-- held are the endpoints that are still the worker's. It counts the outcomes in delivery_outcomes, together with those of deliveries that
-- arrived at their first attempt: all rows in one statement, because it locks them in one order.
-- What was rejected, or gone, at an address or with secrets that have changed in the meantime is due again at once.
-- groups are the groups of failures that a dead letter may join: choose_failure_group.
-- It returns the ids of rows that are no longer the worker's, for which it wrote nothing, and of what is due again.
create or replace function write_troubles(worker uuid, held text[], troubles jsonb, arrivals text[])
returns table (id text, again boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  lost text[];
  repeated text[];
  deaths jsonb;
begin
  with trouble as materialized (
    select given.*, is_again, case when is_again or settlement = 'gone' then 'retry' else settlement end as state
    from jsonb_to_recordset(troubles) as given (
      "isRow" boolean, "organizationId" text, id text, "endpointId" text, "eventId" text, version integer, settlement text,
      delay double precision, attempt jsonb, groups jsonb)
    left join webhook_endpoints endpoint on endpoint.id = "endpointId"
    cross join lateral (select settlement in ('rejected', 'gone') and given.version < endpoint.version) changed (is_again)
  ), ours as materialized (
    -- offset 0 makes this a search of the primary key for each row, however few rows the planner expects in the table.
    select trouble.*, "eventId" as event, "endpointId" as endpoint, row.*
    from trouble cross join lateral (
      select ctid as row_ctid, created_at, attempts, losses from deliveries
      where organization_id = "organizationId" and id = trouble.id and owner = worker
      offset 0
    ) row
    where "isRow"
  ), added as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, attempts, due_at)
    select "organizationId", id, "endpointId", "eventId", (attempt->>'number')::int,
      clock_timestamp() + make_interval(secs => coalesce(delay, 0))
    from trouble where not "isRow" and state = 'retry' and "endpointId" = any (held)
    -- An earlier statement, whose reply was lost, may have written the row.
    on conflict do nothing
    returning organization_id, id
  ), retried as (
    update deliveries set attempts = (attempt->>'number')::int, owner = null, owned_at = null, losses = 0,
      due_at = clock_timestamp() + make_interval(secs => coalesce(delay, 0))
    from ours where state = 'retry' and deliveries.ctid = row_ctid and deliveries.owner = worker
    returning deliveries.organization_id, deliveries.id
  ), noted as (
    insert into delivery_attempts (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
    select organization_id, each.id, (attempt->>'number')::int, (attempt->>'startedAt')::timestamptz,
      (attempt->>'latencyMs')::int, (attempt->>'status')::int, attempt->>'outcome',
      case when not exists (
        select from erased_events erased where erased.organization_id = "organizationId" and erased.event_id = "eventId"
      ) then attempt->>'response' end
    from (select * from added union all select * from retried) each
    join trouble on trouble."organizationId" = each.organization_id and trouble.id = each.id
  ), finished as (
    delete from deliveries using ours
    where state <> 'retry' and deliveries.ctid = row_ctid and deliveries.owner = worker
    returning ours.*
  ), earlier as (
    delete from delivery_attempts made using finished
    where made.organization_id = "organizationId" and made.delivery_id = finished.id and (attempts > 0 or losses > 0)
    returning made.*
  ), whole as (
    select "organizationId" as organization_id, id, "endpointId" as endpoint_id, "eventId" as event_id, state, groups, created_at,
      coalesce((
        select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
        from earlier where earlier.organization_id = "organizationId" and earlier.delivery_id = finished.id
      ), '[]') || attempt as attempts
    from finished
    union all
    select "organizationId", id, "endpointId", "eventId", state, groups, clock_timestamp(), jsonb_build_array(attempt)
    from trouble where not "isRow" and state <> 'retry' and "endpointId" = any (held)
  ), history as (
    -- A partner's response to an event that was erased in the meantime may repeat its body.
    select whole.*, is_erased, case when is_erased
      then (select jsonb_agg(each || '{"response": null}') from jsonb_array_elements(attempts) each) else attempts end as kept_attempts
    from whole cross join lateral (
      select exists (
        select from erased_events erased where erased.organization_id = whole.organization_id and erased.event_id = whole.event_id
      ) as is_erased
    ) erasure
  ), kept as (
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
    select organization_id, id, endpoint_id, event_id, kept_attempts, created_at from history where state = 'delivered'
  ), dying as materialized (
    select history.*, case when is_erased then groups->'blank'
      else choose_failure_group(organization_id, endpoint_id, groups) end as failure_group
    from history where state <> 'delivered'
  ), dead as (
    insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at)
    select organization_id, id, endpoint_id, event_id, state, kept_attempts, failure_group->>'id', created_at from dying
    on conflict do nothing
    returning organization_id, id, group_id, finished_at
  ), written as (
    select organization_id, id from added union select organization_id, id from retried union select organization_id, id from dead
    union select "organizationId", id from finished
  ), tallied as (
    select "organizationId" as organization_id, "endpointId" as endpoint_id, count(*) filter (where outcome = 'success') as delivered,
      count(*) filter (where outcome = 'client_error') as client_errors, count(*) filter (where outcome = 'server_error') as server_errors,
      count(*) filter (where status is not null and outcome not in ('success', 'client_error', 'server_error')) as other_statuses,
      count(*) filter (where status is null) as no_responses, count(dead.id) as dead_letters,
      latency_histogram(array_agg(latency)) as histogram
    from written
    join trouble on trouble."organizationId" = written.organization_id and trouble.id = written.id
    left join dead on dead.organization_id = written.organization_id and dead.id = written.id
    cross join lateral (
      select attempt->>'outcome' as outcome, (attempt->>'status')::int as status, (attempt->>'latencyMs')::int as latency
    ) made
    group by "organizationId", "endpointId"
  ), arrived as (
    select arrivals[n] as organization_id, arrivals[n + 1] as endpoint_id, arrivals[n + 2]::int as count, arrivals[n + 3]::int[] as histogram
    from generate_series(1, cardinality(arrivals), 4) as n
    where arrivals[n + 1] = any (held)
  ), counted as (
    insert into delivery_outcomes as counted (
      organization_id, endpoint_id, at, delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters, latencies)
    select organization_id, endpoint_id, date_bin('5 minutes', clock_timestamp(), 'epoch'),
      coalesce(delivered, 0) + coalesce(count, 0), coalesce(client_errors, 0),
      coalesce(server_errors, 0), coalesce(other_statuses, 0), coalesce(no_responses, 0), coalesce(dead_letters, 0),
      add_counts(coalesce(tallied.histogram, '{}'), coalesce(arrived.histogram, '{}'))
    from tallied full join arrived using (organization_id, endpoint_id)
    order by endpoint_id
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = counted.delivered + excluded.delivered, client_errors = counted.client_errors + excluded.client_errors,
        server_errors = counted.server_errors + excluded.server_errors,
        other_statuses = counted.other_statuses + excluded.other_statuses,
        no_responses = counted.no_responses + excluded.no_responses, dead_letters = counted.dead_letters + excluded.dead_letters,
        latencies = add_counts(counted.latencies, excluded.latencies)
  )
  select
    array(select id from trouble where "isRow" and not exists (
      select from (select organization_id, id from retried union all select "organizationId", id from finished) settled
      where settled.organization_id = "organizationId" and settled.id = trouble.id)),
    array(select id from trouble where is_again and ("isRow" or "endpointId" = any (held))),
    (select jsonb_agg(change) from (
      select organization_id, group_id, finished_at, 1 as opened, 1 as stored, failure_group
      from dead join dying using (organization_id, id)
    ) change)
  into lost, repeated, deaths;
  -- After delivery_outcomes, as every statement that counts dead letters.
  perform count_failures(deaths);
  return query select id, false from unnest(lost) as id union all select id, true from unnest(repeated) as id;
end
$$;
