-- Returns the next dead letters that weren't replayed, oldest first: all, or those of a failure group.
-- The settings force a range scan of dead_letters_to_replay or dead_letters_of_group, even if the statistics are 100,000 rows behind.
create or replace function dead_letters_after(
  after_at timestamptz, after_id text, before timestamptz, max_rows integer, of_group text default null
)
returns table (
  organization_id text, id text, endpoint_id text, event_id text, reason text, finished_at timestamptz, group_id text
)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_bitmapscan = off set enable_seqscan = off
set enable_sort = off as $$
#variable_conflict use_column
begin
  if of_group is null then
    return query
    select organization_id, id, endpoint_id, event_id, reason, finished_at, group_id from dead_letters
    where replayed_as is null and (finished_at, id) > (after_at, after_id) and finished_at < before
    order by finished_at, id limit max_rows;
  else
    return query
    select organization_id, id, endpoint_id, event_id, reason, finished_at, group_id from dead_letters
    where replayed_as is null and group_id = of_group and (finished_at, id) > (after_at, after_id) and finished_at < before
    order by finished_at, id limit max_rows;
  end if;
end
$$;
