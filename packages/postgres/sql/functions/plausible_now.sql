-- Returns the time; null while the database's clock is not believed. Statements that drop, purge or erase by age ask it.
-- The clock is believed within an hour of what watch_clock last believed.
create or replace function plausible_now() returns timestamptz language sql stable as $$
  select now_at from clock_watch cross join clock_timestamp() as now_at
  where now_at between believed_at - interval '1 hour' and believed_at + interval '1 hour'
$$;
