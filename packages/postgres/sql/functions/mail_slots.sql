-- Returns how many messages a rate allows now, given the start of its next slot. Unused slots are kept for one second, so that late claims catch up.
create or replace function mail_slots(next_at timestamptz, per_minute integer, now_at timestamptz) returns integer
language sql stable return case when per_minute is null then 2147483647 else greatest(0, 1 + floor(
  extract(epoch from now_at - greatest(coalesce(next_at, '-infinity'), now_at - interval '1 second')) * per_minute / 60
)::integer) end;
