-- Returns which day of a ramp a day of UTC is, from what was counted last. A day on which nothing was sent is not one of its days.
-- Should the clock have been set back, the day that was counted last goes on.
create or replace function ramp_day(day_number integer, counted_on date, sent integer, today date) returns integer
language sql immutable return case when counted_on >= today or sent = 0 then day_number else day_number + 1 end;
