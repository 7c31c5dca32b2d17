-- Returns the time; null if the database's clock isn't trusted. Statements that delete or erase by age use it.
-- The clock is trusted within an hour of the last time that watch_clock trusted.
create or replace function plausible_now() returns timestamptz language sql stable as $$
  select now_at from clock_watch cross join clock_timestamp() as now_at
  where now_at between believed_at - interval '1 hour' and believed_at + interval '1 hour'
$$;
