-- Adds a table's missing partitions, or with keep drops the first expired one, at most one a day. Returns why it must stay.
--
-- delivered has a partition for each day; keep counts days. events and inbox have one for each month; keep counts the months before this one.
-- hits has one for each month, too, which has expired when each of its hits was classified more than keep days ago.
-- Days and months are UTC. A week of days and two months are added in advance.
--
-- Several processes may call it: one works. A lock that isn't available soon makes it fail without a change.
-- It runs as its owner, so that no other role needs to own a table. So it reads the clock itself, and applies retention_limits.
create or replace function keep_partitions(parent text, keep integer default null)
returns table (added integer, dropped integer, reason text)
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms' set timezone = 'UTC' set datestyle = 'ISO' as $$
#variable_conflict use_variable
declare
  now_at constant timestamptz := plausible_now();
  this_month constant timestamptz := date_trunc('month', now_at);
  max_keep constant integer := case when parent in ('delivered', 'hits') then 3650 else 1200 end;
  earlier constant text := parent || '_earlier';
  later constant text := parent || '_later';
  limits retention_limits;
  names text[] := '{}';
  each text;
  bound text;
  is_used boolean;
begin
  added := 0;
  dropped := 0;
  if parent <> all (array['delivered', 'events', 'inbox', 'hits']) then
    raise exception '% has no partitions', parent;
  elsif keep not between 1 and max_keep then
    raise exception 'no % days or months of % can be kept, but from 1 to %', keep, parent, max_keep;
  end if;
  -- One lock for all monthly tables, because each locks the organizations as its foreign key.
  if now_at is null or not pg_try_advisory_xact_lock(hashtextextended(case when parent = 'delivered' then parent else 'partitions' end, 0)) then
    return next;
    return;
  elsif keep is null then
    added := add_partitions(parent, now_at);
    return next;
    return;
  end if;

  select * into strict limits from retention_limits where retention_limits.parent = keep_partitions.parent;
  keep := greatest(keep, limits.min_keep);
  if limits.dropped_on = now_at::date then
    null;
  elsif parent = 'delivered' then
    each := (
      select name from partition_ranges(parent)
      where ends_at <= date_trunc('day', now_at - keep * interval '1 day')
        and not (select faults from clock_watch) && tstzrange(begins_at, ends_at)
      order by ends_at limit 1);
    if each is not null then
      execute format('drop table %I', each);
      dropped := 1;
    end if;
  else
    execute format('select exists (select from %s)', coalesce(to_regclass(earlier), to_regclass(later))) into is_used;
    -- The first partition is dropped together with the next month, or by itself if it has rows.
    select array_agg(name order by ends_at) into names from (
      select name, ends_at from partition_ranges(parent)
      where ends_at <= case when parent = 'hits' then this_month else this_month - keep * interval '1 month' end
      order by ends_at limit case when is_used then 1 else 2 end
    ) over;
    if cardinality(names) > 1 or cardinality(names) = 1 and is_used then
      bound := (
        select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.*?)''\)') from pg_class
        where oid = names[cardinality(names)]::regclass);
      -- First without blocking readers and writers, because it may take a moment.
      reason := partition_needed(parent, bound, now_at - keep * interval '1 day');
      if reason is null then
        execute partition_locks(parent);
        reason := partition_needed(parent, bound, now_at - keep * interval '1 day');
      end if;
      if reason is null then
        foreach each in array names loop
          execute format('drop table %I', each);
        end loop;
        dropped := cardinality(names);
        -- Earlier rows still have a partition, even with a wrong clock.
        execute format('create table %I (like %I including all)', earlier, later);
        execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, earlier, bound);
      elsif parent = 'hits' then
        -- Hits that aren't old enough need no report.
        reason := null;
      end if;
    end if;
  end if;
  if dropped > 0 then
    update retention_limits set dropped_on = now_at::date where retention_limits.parent = keep_partitions.parent;
  end if;
  return next;
end
$$;
