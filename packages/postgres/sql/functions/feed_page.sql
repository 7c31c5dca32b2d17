-- Returns the first events of some types after a position, in the order of the feed. Unless it is_filtered, these are all types of the feed.
--
-- The unfiltered feed is one range of events_log. A filter reads one range of events_by_type for each type, merged, so that finding a rare type
-- doesn't require reading the other types.
-- It is a function because an organization that isn't in the planner's statistics yet seems to have no events: each page would sort all of them.
create or replace function feed_page(
  organization text, types text[], is_filtered boolean, after_at timestamptz, after_id text, max_rows integer
)
returns table (id text, emitted_at timestamptz, campaign_id text, recipient_id text, body text)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_sort = off as $$
#variable_conflict use_column
begin
  -- Also compares the time, because a row comparison doesn't prune partitions.
  if is_filtered then
    return query
    select each.* from unnest(types) as wanted (type)
    cross join lateral (
      select id, emitted_at, campaign_id, recipient_id, body from events
      where organization_id = organization and type = wanted.type and emitted_at >= after_at
        and (emitted_at, id) > (after_at, after_id)
      order by type, emitted_at, id limit max_rows
    ) each
    order by emitted_at, id limit max_rows;
  else
    return query
    select id, emitted_at, campaign_id, recipient_id, body from events
    where organization_id = organization and type = any (types) and emitted_at >= after_at
      and (emitted_at, id) > (after_at, after_id)
    order by emitted_at, id limit max_rows;
  end if;
end
$$;
