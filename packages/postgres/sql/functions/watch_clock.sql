-- Compares the database's clock with a worker's own, with what the worker reckoned from an earlier reading, and with the time that was last
-- believed. Returns its reading, and why it is not believed, or null.
--
-- What a caller passes can only raise a doubt. After a time that nobody watched, a clock is believed once it has gone on steadily for an hour
-- for each day of that time, at most a day. It runs as its owner: nobody else may say what is believed.
create or replace function watch_clock(own_at timestamptz, reckoned_at timestamptz, out now_at timestamptz, out doubt text)
language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC' set datestyle = 'ISO' as $$
declare
  tolerance constant interval := '1 hour';
  watch clock_watch;
  is_near boolean;
  believed_from timestamptz;
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
      then format('the database''s clock says %s, and by what it said earlier it is %s',
        date_trunc('second', now_at), date_trunc('second', reckoned_at))
    when now_at < believed_from
      then format('the database''s clock says %s, and it was last believed at %s; if it goes on steadily, it is believed from %s on',
        date_trunc('second', now_at), date_trunc('second', watch.believed_at), date_trunc('second', believed_from))
  end;
  if doubt is null then
    -- What was stamped since the time that was last believed, or while the clock settled, is right after all.
    delete from clock_faults
    where not is_near and first_at <= now_at and last_at >= least(watch.steady_from, watch.believed_at);
    if watch.steady_from is not null then perform bring_forward(now_at); end if;
    update clock_watch set believed_at = now_at, steady_from = null, steady_to = null;
    return;
  end if;
  update clock_watch set steady_from = watch.steady_from, steady_to = watch.steady_to, doubt = watch_clock.doubt, doubted_at = now_at;
  if not is_near then
    update clock_faults set last_at = now_at + tolerance where now_at between first_at and last_at and last_at < now_at + tolerance;
    insert into clock_faults (first_at, last_at) select now_at - tolerance, now_at + tolerance where not is_doubtful(now_at);
  end if;
end
$$;
