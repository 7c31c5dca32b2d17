-- Removes the partitions of a table that end later than what is added today, as a wrong clock left them. Returns their names.
-- What they hold goes to the partition that takes the rest, and the next keep_partitions adds what is missing. For the owner alone.
create or replace function remove_future_partitions(parent text) returns setof text
language plpgsql set lock_timeout = '2s' set timezone = 'UTC' set datestyle = 'ISO' as $$
declare
  rest constant text := case when parent = 'delivered' then 'delivered_default' else parent || '_later' end;
  earlier constant text := parent || '_earlier';
  column_name constant text := case parent when 'events' then 'emitted_at' when 'inbox' then 'received_at' else 'id' end;
  each text;
  bound text;
begin
  if plausible_now() is null then
    raise exception 'the database''s clock is not believed, so nobody knows which partitions are of the future';
  end if;
  execute partition_locks(parent);
  execute format('alter table %I detach partition %I', parent, rest);
  for each in select name from partition_ranges(parent) where is_ahead order by ends_at loop
    execute format('alter table %I detach partition %I', parent, each);
    if each = earlier then
      -- What is earlier than this month stays in it.
      bound := partition_bound(parent, date_trunc('month', plausible_now()));
      execute format('with moved as (delete from %I where %I >= %L returning *) insert into %I select * from moved', each, column_name, bound, rest);
      execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, each, bound);
    else
      execute format('insert into %I select * from %I', rest, each);
      execute format('drop table %I', each);
    end if;
    return next each;
  end loop;
  bound := partition_bound(parent, (select max(ends_at) from partition_ranges(parent)));
  execute format('alter table %I attach partition %I %s', parent, rest,
    case when parent = 'delivered' then 'default' else format('for values from (%s) to (maxvalue)', coalesce(quote_literal(bound), 'minvalue')) end);
end
$$;
