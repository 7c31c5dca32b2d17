-- Advances a clock that was last advanced before this server started; returns the stamp.
-- On another server than that of the last stamp, the new stamp is after all stamps of the lost server, whose clock may have been ahead by the skew.
create or replace function fence_clock(clock_of text, skew_seconds double precision) returns timestamptz language plpgsql volatile as $$
declare
  here constant text := note_timeline();
  skew constant interval := make_interval(secs => skew_seconds);
  clock record;
  stamp timestamptz;
begin
  select * into clock from organization_clock where organization_id = clock_of for update;
  if clock.identity = here then
    stamp := greatest(clock_timestamp(), clock.last + interval '1 microsecond');
  elsif clock.last < clock.fenced_at + interval '1 second' then
    -- The last stamp is itself a fence, later than any clock. Lost stamps follow it by microseconds, or are clock times.
    stamp := greatest(clock_timestamp() + skew, clock.last + interval '1 second');
  else
    stamp := greatest(clock_timestamp(), clock.last) + skew;
  end if;
  update organization_clock set last = stamp, identity = here, server_started_at = pg_postmaster_start_time(),
    fenced_at = case when clock.identity = here then fenced_at else stamp end
  where organization_id = clock_of;
  return stamp;
end
$$;
