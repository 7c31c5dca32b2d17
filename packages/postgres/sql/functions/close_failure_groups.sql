-- Closes the groups of failures whose endpoints accept calls again, and returns how many.
--
-- A group is quiet when its last failure was two minutes ago. It is over when the endpoint has accepted more than five times as many calls since
-- as it accepted between two failures: one call after an outage, two where 80 % failed, 46 where 10 % did. By chance that is
-- rare. A failure in the future is one of a clock that was wrong: nothing can follow it.
create or replace function close_failure_groups() returns integer language sql as $$
  with over as materialized (
    select held.organization_id, held.id from failure_groups held
    where closed_at is null and (last_at > clock_timestamp() + interval '2 minutes'
      or last_at < clock_timestamp() - interval '2 minutes' and (
        select since.delivered > 5 * greatest(0, episode.delivered - delivered_before - since.delivered) / greatest(1, failures)
        from outcomes_since(endpoint_id, opened_at) episode
        cross join (select greatest(0, delivered - delivered_then) as delivered from outcomes_since(endpoint_id, last_at)) since
      ))
    -- One that fails at this moment is left to its worker.
    order by organization_id, id for update skip locked
  ), closed as (
    update failure_groups held set closed_at = clock_timestamp() from over
    where held.organization_id = over.organization_id and held.id = over.id
    returning 1
  )
  select count(*)::int from closed
$$;
