-- Reports whether a program's sender has sent today's limit (UTC) of its ramp.
create or replace function ramp_reached(organization text, program text) returns boolean language sql stable as $$
  select exists (
    select from sender_ramps
    where organization_id = organization and sender_id = sender_of(organization, program)
      and ramp_slots(daily, day_number, counted_on, sent, date(clock_timestamp() at time zone 'UTC')) = 0
  )
$$;
