-- Returns a program's current sender: the program's own, otherwise the organization's; and the number of messages that its ramp still allows
-- today (UTC). Without a row, the deployment's default sender is used.
create or replace function sender_of(organization text, program text) returns table (sender_id text, slots integer) language sql stable as $$
  select id, ramp_slots(ramp, ramp_day_number, ramp_counted_on, ramp_sent, date(clock_timestamp() at time zone 'UTC')) from senders
  where organization_id = organization and (program_id is null or program_id = program) and live_since is not null
  order by program_id nulls last limit 1
$$;
