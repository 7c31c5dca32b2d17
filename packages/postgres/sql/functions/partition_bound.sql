-- Returns where a partition of a table begins or ends at a time, as its definition shows it. The ids of hits begin with their time.
create or replace function partition_bound(parent text, at timestamptz) returns text language sql stable as $$
  select case when parent = 'hits' then 'hit_' || lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') else at::text end
$$;
