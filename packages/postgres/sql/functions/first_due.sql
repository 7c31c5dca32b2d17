-- Returns each endpoint's first due time among the rows without an owner, for replays separately. Takes one index step for each result.
create or replace function first_due()
returns table (endpoint_id text, replay boolean, due_at timestamptz)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_sort = off as $$
#variable_conflict use_column
begin
  return query
  with recursive first_of as (
    (select endpoint_id, replay, due_at from deliveries where owner is null order by endpoint_id, replay, due_at limit 1)
    union all
    select next.* from first_of
    cross join lateral (
      select endpoint_id, replay, due_at from deliveries
      where owner is null and (endpoint_id, replay) > (first_of.endpoint_id, first_of.replay)
      order by endpoint_id, replay, due_at limit 1
    ) next
  )
  select * from first_of;
end
$$;
