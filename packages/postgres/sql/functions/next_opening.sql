-- Returns the first time from a time on at which it is within the hours, the last one excluded, by the clocks of all time zones.
-- It is the time itself where the time zones are not known to this server, and infinity where their hours never overlap.
-- Every time zone differs from UTC, and changes its clocks, by whole quarters of an hour.
create or replace function next_opening(hours_from smallint, hours_to smallint, time_zones text[], since timestamptz) returns timestamptz
language plpgsql stable as $$
declare
  instant timestamptz := since;
begin
  while exists (
    select from unnest(time_zones) as time_zone
    where extract(hour from instant at time zone time_zone) not between hours_from and hours_to - 1
  ) loop
    if instant > since + interval '8 days' then
      return 'infinity';
    end if;
    instant := date_bin('15 minutes', instant, 'epoch') + interval '15 minutes';
  end loop;
  return instant;
exception when invalid_parameter_value then
  return since;
end
$$;
