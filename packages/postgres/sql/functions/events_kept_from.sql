-- Returns the time before which no events are stored, if it is the end of a partition. Null if the first partition has events.
create or replace function events_kept_from() returns timestamptz language sql stable as $$
  select bound from (
    select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.*?)''\)')::timestamptz as bound
    from pg_class where oid = to_regclass('events_earlier')
  ) first
  where not exists (select from events where emitted_at < bound)
$$;
