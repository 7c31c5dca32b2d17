-- Returns a UTC day's number in a ramp, from the last counted day. Days without e-mails don't count.
-- After a clock was set back, the last counted day continues.
create or replace function ramp_day(day_number integer, counted_on date, sent integer, today date) returns integer
language sql immutable return case when counted_on >= today or sent = 0 then day_number else day_number + 1 end;
