-- Returns an endpoint's next deliveries without an owner in the order of their due times: one range of deliveries_due for retries and one for replays.
create or replace function waiting_after(
  endpoint text, after_at timestamptz, after_id text, before timestamptz, max_rows integer
)
returns table (id text, event_id text, group_id text, due_at timestamptz)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
  return query
  select each.* from unnest(array[false, true]) as lane_of (is_replay)
  cross join lateral (
    select id, event_id, group_id, due_at from deliveries
    where endpoint_id = endpoint and replay = is_replay and owner is null and (due_at, id) > (after_at, after_id) and due_at < before
    order by due_at, id limit max_rows
  ) each
  order by due_at, id limit max_rows;
end
$$;
