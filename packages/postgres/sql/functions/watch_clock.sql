-- Compares the database's clock with a worker's clock, with the worker's expectation from an earlier reading, and with the last
-- trusted time. Returns the reading, and why it isn't trusted, or null.
--
-- A caller can only cause distrust. After an unwatched time, a clock is trusted once it has run steadily for an hour
-- for each day of that time, at most a day. It runs as its owner: no other role may set the trusted time.
-- Rows deferred by a clock that was ahead become due now: no other row is due as late as that clock's times.
create or replace function watch_clock(own_at timestamptz, reckoned_at timestamptz, out now_at timestamptz, out doubt text)
language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC' set datestyle = 'ISO' as $$
declare
  tolerance constant interval := '1 hour';
  watch clock_watch;
  is_near boolean;
  believed_from timestamptz;
  ahead_from timestamptz;
begin
  select * into strict watch from clock_watch for update;
  now_at := clock_timestamp();
  is_near := now_at between watch.believed_at - tolerance and watch.believed_at + tolerance;
  if not is_near then
    if now_at between watch.steady_to - tolerance and watch.steady_to + tolerance then
      watch.steady_to := now_at;
    else
      watch.steady_from := now_at;
      watch.steady_to := now_at;
    end if;
    believed_from := watch.steady_from + least(
      greatest(watch.steady_from - watch.believed_at, watch.believed_at - watch.steady_from) / 24, interval '1 day');
  end if;
  doubt := case
    when own_at not between now_at - tolerance and now_at + tolerance
      then format('the database''s clock says %s, and the worker''s %s', date_trunc('second', now_at), date_trunc('second', own_at))
    when reckoned_at not between now_at - tolerance and now_at + tolerance
      then format('the database''s clock says %s, and by its earlier readings it is %s',
        date_trunc('second', now_at), date_trunc('second', reckoned_at))
    when now_at < believed_from
      then format('the database''s clock says %s, and it was last right at %s; if it runs steadily, it is trusted from %s',
        date_trunc('second', now_at), date_trunc('second', watch.believed_at), date_trunc('second', believed_from))
  end;
  if doubt is null then
    -- Stamps since the last trusted time, or since the clock has been steady, are correct after all.
    if not is_near then
      watch.faults := coalesce((select range_agg(fault) from unnest(watch.faults) fault
        where lower(fault) > now_at or upper(fault) < least(watch.steady_from, watch.believed_at)), '{}');
    end if;
    ahead_from := (select min(lower(fault)) from unnest(watch.faults) fault where watch.steady_from is not null and lower(fault) > now_at);
    if ahead_from is not null then
      -- A lease gets ten more minutes, so that its worker can still settle it. A ramp continues with the counted day.
      update messages set due_at = case when due_at >= ahead_from and due_at < 'infinity' then now_at else due_at end,
        lease_until = case when lease_until >= ahead_from then now_at + interval '10 minutes' else lease_until end
      where (due_at >= ahead_from and due_at < 'infinity') or lease_until >= ahead_from;
      update deliveries set due_at = now_at where due_at >= ahead_from;
      update endpoint_readers set probe_at = now_at where probe_at >= ahead_from;
      update campaign_domains set paused_until = now_at where paused_until >= ahead_from;
      update senders set ramp_counted_on = now_at::date where ramp_counted_on >= ahead_from::date and ramp_counted_on > now_at::date;
      delete from send_rates where next_at >= ahead_from;
    end if;
    update clock_watch set believed_at = now_at, steady_from = null, steady_to = null, faults = watch.faults;
    return;
  end if;
  if not is_near then
    watch.faults := watch.faults + tstzmultirange(tstzrange(now_at - tolerance, now_at + tolerance, '[]'));
  end if;
  update clock_watch set steady_from = watch.steady_from, steady_to = watch.steady_to, doubt = watch_clock.doubt, doubted_at = now_at,
    -- A doubt ends a minute after its last report.
    doubted_from = case when watch.doubted_at between now_at - interval '1 minute' and now_at then watch.doubted_from else now_at end,
    faults = watch.faults;
end
$$;
