-- Returns why a row of a table below a limit must stay, or null. hits_before is the time before which hits are deleted.
--
-- It is one statement for each table, so that it finds rows that move between tables meanwhile.
create or replace function partition_needed(parent text, below text, hits_before timestamptz) returns text
language plpgsql stable
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off as $$
begin
  case parent
    when 'events' then
      return (
        with older as materialized (select below::timestamptz as than)
        select reason from (
          (select 'endpoint ' || endpoint.id || ' has not read them all' as reason
            from older cross join webhook_endpoints endpoint cross join lateral reader_position(endpoint.id) position
            where enabled and begun_at < than and exists (
              select from events where organization_id = endpoint.organization_id and emitted_at < than
                and emitted_at >= begun_at and (emitted_at, events.id) > (begun_at, begun_id)
                and (event_types is null or type = any (event_types))) limit 1)
          union all
          (select 'endpoint ' || reader.endpoint_id || ' has not settled them all'
            from older cross join endpoint_readers reader cross join lateral reader_position(reader.endpoint_id) position
            where exists (
              select from events where organization_id = reader.organization_id and id = any (open) and emitted_at < than) limit 1)
          union all
          (select 'delivery ' || delivery.id || ' waits'
            from older cross join deliveries delivery where exists (
              select from events
              where organization_id = delivery.organization_id and id = delivery.event_id and emitted_at < than) limit 1)
          union all
          (select 'dead letter ' || dead.id || ' is neither replayed nor removed'
            from older cross join dead_letters dead where replayed_as is null and exists (
              select from events where organization_id = dead.organization_id and id = dead.event_id and emitted_at < than) limit 1)
          union all
          (select 'replay ' || id || ' reads them' from older cross join replay_jobs
            where kind = 'log' and finished_at is null and cancelled_at is null and after_at < than limit 1)
          union all
          (select 'rows have times of a wrong clock since ' || date_trunc('second', lower(fault))
            from older cross join clock_watch cross join unnest(faults) fault where exists (
              select from events where emitted_at between lower(fault) and upper(fault) and emitted_at < than) limit 1)
        ) needed limit 1
      );
    when 'inbox' then
      return (
        select 'event ' || event_id || ' of ' || organization_id || ' waits to be applied' from inbox
        where received_at < below::timestamptz and applied_at is null and quarantined_at is null
        union all
        select 'rows have times of a wrong clock since ' || date_trunc('second', lower(fault))
        from clock_watch cross join unnest(faults) fault where exists (
          select from inbox where received_at between lower(fault) and upper(fault) and received_at < below::timestamptz)
        limit 1
      );
    when 'hits' then
      return (
        select 'hit ' || id || ' waits or is not old enough' from hits
        where id < below and (judged_at is null or judged_at >= hits_before or is_doubtful(judged_at)) limit 1
      );
  end case;
end
$$;
