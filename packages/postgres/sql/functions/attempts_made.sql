-- Counts the attempts that count for the retry schedule.
-- An attempt with an unknown outcome is repeated under the same number, so it doesn't count.
create or replace function attempts_made(attempts jsonb) returns integer language sql immutable as $$
  select count(*)::integer from jsonb_array_elements(attempts) attempt where attempt->>'outcome' <> 'outcome_unknown'
$$;
