-- Ends the waiting deliveries of removed endpoints, at most max_rows, and as many dead letters. Returns their number.
--
-- A waiting delivery becomes a cancelled one with its attempts. A living worker finishes its call; that of a lost worker is recorded as unknown.
-- Dead letters stay but no longer wait for a replay. Failing groups are closed.
create or replace function end_removed(max_rows integer) returns integer
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  alive constant uuid[] := array(
    select token from delivery_workers
    where alive_until > clock_timestamp() and alive_until < clock_timestamp() + interval '1 minute');
  removed constant text[] := array(
    select id from webhook_endpoints where removed_at is not null);
  ended integer;
  deaths jsonb;
begin
  -- Possible calls of a lost worker become rows that it still owns.
  perform hand_over(owner, array[endpoint_id], array[array_to_string(open, ',')], '{}')
  from unnest(removed) as removed (id) join endpoint_readers on endpoint_id = removed.id
  cross join lateral reader_position(endpoint_id) position
  where owner is not null and owner <> all (alive);

  with lost as materialized (
    select ctid as row_ctid, owned_at from deliveries
    where owner is not null and owner <> all (alive) and endpoint_id = any (removed)
    limit max_rows for update skip locked
  ), released as (
    update deliveries set owner = null, owned_at = null, losses = losses + 1 from lost where deliveries.ctid = row_ctid
    returning organization_id, id, attempts, lost.owned_at
  )
  insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
  select organization_id, id, attempts + 1, owned_at, 'outcome_unknown' from released;

  with waiting as materialized (
    select ctid as row_ctid from deliveries where owner is null and endpoint_id = any (removed)
    limit max_rows for update skip locked
  ), cancelled as (
    delete from deliveries where ctid = any (array(select row_ctid from waiting)) returning *
  ), made as (
    delete from delivery_attempts made using cancelled
    where made.organization_id = cancelled.organization_id and made.delivery_id = cancelled.id
    returning made.*
  )
  insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at, cancelled)
  select organization_id, id, endpoint_id, event_id, coalesce((
      select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
      from made where made.organization_id = cancelled.organization_id and made.delivery_id = cancelled.id
    ), '[]'), created_at, true
  from cancelled;
  get diagnostics ended = row_count;

  update replay_jobs set cancelled_at = clock_timestamp()
  where finished_at is null and cancelled_at is null and endpoint_id = any (removed);

  with open as materialized (
    select ctid as row_ctid from dead_letters
    where replayed_as is null and group_id in (select id from failure_groups where open > 0 and endpoint_id = any (removed))
    order by organization_id, id limit max_rows for update skip locked
  ), closed as (
    update dead_letters set replayed_as = '' where ctid = any (array(select row_ctid from open)) returning *
  )
  select jsonb_agg(jsonb_build_object(
    'organization_id', organization_id, 'group_id', group_id, 'at', finished_at, 'reason', reason, 'opened', -1, 'stored', 0, 'failures', 0))
  into deaths from closed;
  perform count_failures(deaths);

  with lasting as materialized (
    select id from failure_groups where closed_at is null and endpoint_id = any (removed)
    order by organization_id, id for update skip locked
  )
  update failure_groups set closed_at = clock_timestamp() where id in (select id from lasting);
  return ended + coalesce(jsonb_array_length(deaths), 0);
end
$$;
