-- Reports whether a time may come from a wrong clock. Rows with such a time aren't deleted by age.
create or replace function is_doubtful(at timestamptz) returns boolean language sql stable as $$
  select coalesce(at <@ (select faults from clock_watch), false)
$$;
