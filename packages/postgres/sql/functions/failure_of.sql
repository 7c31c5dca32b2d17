-- Returns what became of the last attempt at a dead letter: its status, its outcome, and the line of its response.
create or replace function failure_of(attempts jsonb)
returns table (status integer, outcome text, line text) language sql immutable as $$
  select (last->>'status')::int, coalesce(last->>'outcome', 'unknown'), failure_line(last->>'response') from (select attempts->-1 as last) made
$$;
