-- Adds the partitions of a table that are missing, or with keep drops those that are over. Returns why one that is over must stay.
--
-- delivered has a partition for each day; keep counts days. events and inbox have one for each month; keep counts the months before this one.
-- hits has one for each month, too, which is over when each of its hits was judged more than keep days ago.
-- Days and months are UTC. A week of days and two months are added ahead.
--
-- Several processes may call it: one does the work. A lock that does not come soon fails it, and changes nothing.
-- It runs as its owner: nobody else needs to own a table.
create or replace function keep_partitions(parent text, now_at timestamptz, keep integer default null)
returns table (added integer, dropped integer, reason text)
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '200ms' set timezone = 'UTC' set datestyle = 'ISO' as $$
#variable_conflict use_variable
declare
  this_month constant timestamptz := date_trunc('month', now_at);
  earlier constant text := parent || '_earlier';
  later constant text := parent || '_later';
  names text[] := '{}';
  each text;
  first timestamptz;
  until timestamptz;
  bound text;
  is_used boolean;
  held_by text;
  -- A foreign key of a partition locks the table that it refers to, weakly where it is made and fully where it goes. Whoever has read that
  -- table and is about to write it would be ended for a deadlock, so it is locked fully from the beginning.
  locks constant text := (
    select string_agg(format('lock table %s in access exclusive mode', locked), '; ' order by place, locked::text) from (
      select to_regclass(parent) as locked, 1 as place
      union select confrelid::regclass, 2 from pg_constraint where conrelid = to_regclass(parent) and contype = 'f'
    ) tables);
begin
  added := 0;
  dropped := 0;
  if parent <> all (array['delivered', 'events', 'inbox', 'hits']) then
    raise exception '% has no partitions', parent;
  end if;
  -- One lock for all by month, because each of them locks the organizations that they refer to.
  if not pg_try_advisory_xact_lock(hashtextextended(case when parent = 'delivered' then parent else 'partitions' end, 0)) then
    return next;
    return;
  end if;

  if parent = 'delivered' and keep is null then
    -- What came while a day had no partition is in the default one, and goes where it belongs.
    for each, first in
      select to_char(day, '"delivered_"YYYY_MM_DD'), day from (
        select date_trunc('day', now_at) + n * interval '1 day' as day from generate_series(0, 7) n
        union
        select date_trunc('day', finished_at) from delivered_default
      ) wanted
      where to_regclass(to_char(day, '"delivered_"YYYY_MM_DD')) is null
      order by day
    loop
      -- What settles meanwhile waits here, until it can see where it belongs: on its way to the default partition it would fail.
      lock table delivered in share row exclusive mode;
      until := first + interval '1 day';
      -- Made apart and then attached, which leaves those alone who read the other days.
      execute format('create table %I (like delivered including all)', each);
      execute format(
        'with moved as (delete from delivered_default where finished_at >= %L and finished_at < %L returning *)
        insert into %I select * from moved', first, until, each);
      execute format('alter table delivered attach partition %I for values from (%L) to (%L)', each, first, until);
      added := added + 1;
    end loop;

  elsif parent = 'delivered' then
    for each in
      select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = 'delivered'::regclass and relname ~ '^delivered_[0-9_]{10}$'
        and relname::text < to_char(now_at - keep * interval '1 day', '"delivered_"YYYY_MM_DD')
      order by relname
    loop
      execute format('drop table %I', each);
      dropped := dropped + 1;
    end loop;

  elsif keep is null then
    bound := (select substring(pg_get_expr(relpartbound, oid) from 'FROM \(''(.*?)''\)') from pg_class where oid = later::regclass);
    until := case when bound is null then this_month
      when parent = 'hits' then to_timestamp(('x' || substr(bound, 5))::bit(48)::bigint / 1000.0) else bound::timestamptz end;
    if until <= this_month + interval '2 months' then
      -- What is later than the last month is taken out, and put back behind the new ones. Nobody sees the table without it.
      execute locks;
      execute format('alter table %I detach partition %I', parent, later);
      if bound is null then
        names := array[earlier];
      end if;
      while until <= this_month + interval '2 months' loop
        names := names || (parent || to_char(until, '"_"YYYY_MM'));
        until := until + interval '1 month';
      end loop;
      foreach each in array names loop
        -- Each begins where the one before ends.
        until := case when each = earlier then this_month else to_date(right(each, 7), 'YYYY_MM') + interval '1 month' end;
        execute format('create table %I (like %I including all)', each, later);
        execute format(
          'with moved as (delete from %I where %s < %L returning *) insert into %I select * from moved',
          later, case parent when 'events' then 'emitted_at' when 'inbox' then 'received_at' else 'id' end,
          partition_bound(parent, until), each);
        execute format('alter table %I attach partition %I for values from (%s) to (%L)',
          parent, each, coalesce(quote_literal(bound), 'minvalue'), partition_bound(parent, until));
        bound := partition_bound(parent, until);
        added := added + 1;
      end loop;
      execute format('alter table %I attach partition %I for values from (%L) to (maxvalue)', parent, later, bound);
    end if;

  else
    for each, bound in
      select relname, upper from pg_inherits join pg_class on pg_class.oid = inhrelid
      cross join lateral (select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.*?)''\)') as upper) range
      where inhparent = parent::regclass and upper collate "C" <= partition_bound(
        parent, case when parent = 'hits' then this_month else this_month - keep * interval '1 month' end)
      order by upper collate "C"
    loop
      -- First while others read and write, because it may take a moment.
      held_by := partition_needed(parent, bound, now_at - keep * interval '1 day');
      exit when held_by is not null;
      names := names || each;
    end loop;
    execute format('select exists (select from %s)', coalesce(to_regclass(earlier), to_regclass(later))) into is_used;
    if cardinality(names) > 1 or cardinality(names) = 1 and is_used then
      execute locks;
      bound := (
        select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.*?)''\)') from pg_class
        where oid = names[cardinality(names)]::regclass);
      reason := partition_needed(parent, bound, now_at - keep * interval '1 day');
      if reason is null then
        foreach each in array names loop
          execute format('drop table %I', each);
          dropped := dropped + 1;
        end loop;
        -- What is earlier still has its place, whatever a clock says.
        execute format('create table %I (like %I including all)', earlier, later);
        execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, earlier, bound);
      end if;
    end if;
    -- Hits that are not old enough are no reason to tell.
    reason := case when parent <> 'hits' then coalesce(reason, held_by) end;
  end if;
  return next;
end
$$;
