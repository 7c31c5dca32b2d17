-- Returns the time before which there are no events, as far as it is the end of a partition. Null when the first partition holds some.
create or replace function events_kept_from() returns timestamptz language sql stable as $$
  select bound from (
    select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.*?)''\)')::timestamptz as bound
    from pg_class where oid = to_regclass('events_earlier')
  ) first
  where not exists (select from events where emitted_at < bound)
$$;
