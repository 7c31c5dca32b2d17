-- Counts the recorded attempts that the retry schedule counts.
-- An attempt with an unknown outcome is repeated under its number, so it does not count.
create or replace function attempts_made(attempts jsonb) returns integer language sql immutable as $$
  select count(*)::integer from jsonb_array_elements(attempts) attempt where attempt->>'outcome' <> 'outcome_unknown'
$$;
