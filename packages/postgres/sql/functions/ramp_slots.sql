-- Returns the number of messages that a sender may still send on a UTC day: the largest integer without a ramp, and after its last day.
create or replace function ramp_slots(daily integer[], day_number integer, counted_on date, sent integer, today date) returns integer
language sql immutable return greatest(0, coalesce(
  daily[ramp_day(day_number, counted_on, sent, today)] - case when counted_on >= today then sent else 0 end, 2147483647));
