-- Returns a table's partitions with their bounds, null for none.
create or replace function partition_ranges(parent text)
returns table (name text, begins_at timestamptz, ends_at timestamptz)
language sql stable set timezone = 'UTC' set datestyle = 'ISO' as $$
  select relname::text, first, until
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  cross join lateral (
    select case when parent = 'hits' then to_timestamp(('x' || substr(lower, 5))::bit(48)::bigint / 1000.0) else lower::timestamptz end as first,
      case when parent = 'hits' then to_timestamp(('x' || substr(upper, 5))::bit(48)::bigint / 1000.0) else upper::timestamptz end as until
    from (
      select substring(pg_get_expr(relpartbound, pg_class.oid) from 'FROM \(''(.*?)''\)') as lower,
        substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.*?)''\)') as upper
    ) bound
  ) as range
  where inhparent = to_regclass(parent)
$$;
