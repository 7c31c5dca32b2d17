-- Adds a table's missing partitions at a time; returns their number. Only keep_partitions and the owner can call it.
create or replace function add_partitions(parent text, now_at timestamptz) returns integer
language plpgsql set timezone = 'UTC' set datestyle = 'ISO' as $$
#variable_conflict use_variable
declare
  this_month constant timestamptz := date_trunc('month', now_at);
  earlier constant text := parent || '_earlier';
  later constant text := parent || '_later';
  added integer := 0;
  names text[] := '{}';
  each text;
  first timestamptz;
  until timestamptz;
  bound text;
  upper_bound text;
begin
  if parent = 'delivered' then
    -- Moves rows that came while their day had no partition out of the default one. Rows that only a wrong clock can have written stay.
    for each, first in
      select to_char(day, '"delivered_"YYYY_MM_DD'), day from (
        select date_trunc('day', now_at) + n * interval '1 day' as day from generate_series(0, 7) n
        union
        select date_trunc('day', finished_at) from delivered_default
        where finished_at between now_at - interval '30 days' and now_at + interval '7 days'
      ) wanted
      where to_regclass(to_char(day, '"delivered_"YYYY_MM_DD')) is null
      order by day
    loop
      -- Deliveries that settle meanwhile wait here: an insert into the default partition would fail.
      lock table delivered in share row exclusive mode;
      until := first + interval '1 day';
      -- Created separately and attached, which doesn't block readers of other days.
      execute format('create table %I (like delivered including all)', each);
      execute format(
        'with moved as (delete from delivered_default where finished_at >= %L and finished_at < %L returning *)
        insert into %I select * from moved', first, until, each);
      execute format('alter table delivered attach partition %I for values from (%L) to (%L)', each, first, until);
      added := added + 1;
    end loop;
    return added;
  end if;

  bound := (select substring(pg_get_expr(relpartbound, oid) from 'FROM \(''(.*?)''\)') from pg_class where oid = later::regclass);
  until := coalesce((select begins_at from partition_ranges(parent) where name = later), this_month);
  if until > this_month + interval '2 months' then
    return added;
  end if;
  -- Moves the rows after the last month behind the new partitions. No transaction sees the table without them.
  execute partition_locks(parent);
  execute format('alter table %I detach partition %I', parent, later);
  if bound is null then
    names := array[earlier];
  end if;
  while until <= this_month + interval '2 months' loop
    names := names || (parent || to_char(until, '"_"YYYY_MM'));
    until := until + interval '1 month';
  end loop;
  foreach each in array names loop
    -- Each starts at the end of the previous one.
    until := case when each = earlier then this_month else to_date(right(each, 7), 'YYYY_MM') + interval '1 month' end;
    -- The ids of hits start with their time.
    upper_bound := case when parent = 'hits' then 'hit_' || lpad(to_hex((extract(epoch from until) * 1000)::bigint), 12, '0') else until::text end;
    execute format('create table %I (like %I including all)', each, later);
    execute format(
      'with moved as (delete from %I where %s < %L returning *) insert into %I select * from moved',
      later, case parent when 'events' then 'emitted_at' when 'inbox' then 'received_at' else 'id' end,
      upper_bound, each);
    execute format('alter table %I attach partition %I for values from (%s) to (%L)',
      parent, each, coalesce(quote_literal(bound), 'minvalue'), upper_bound);
    bound := upper_bound;
    added := added + 1;
  end loop;
  execute format('alter table %I attach partition %I for values from (%L) to (maxvalue)', parent, later, bound);
  return added;
end
$$;
