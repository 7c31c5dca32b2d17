-- Reports whether a time may come from a clock that was not believed: what bears it is not dropped for its age.
create or replace function is_doubtful(at timestamptz) returns boolean language sql stable as $$
  select coalesce(at <@ (select faults from clock_watch), false)
$$;
