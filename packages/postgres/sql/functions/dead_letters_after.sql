-- Returns the next dead letters that were not replayed, oldest first.
--
-- The settings force a range scan of dead_letters_to_replay, even if the statistics are 100,000 rows behind.
create or replace function dead_letters_after(after_at timestamptz, after_id text, before timestamptz, max_rows integer)
returns table (
  organization_id text, id text, endpoint_id text, event_id text, reason text, finished_at timestamptz
)
language sql stable set enable_bitmapscan = off set enable_seqscan = off set enable_sort = off as $$
  select organization_id, id, endpoint_id, event_id, reason, finished_at from dead_letters
  where replayed_as is null and (finished_at, id) > (after_at, after_id) and finished_at < before
  order by finished_at, id limit max_rows
$$;
