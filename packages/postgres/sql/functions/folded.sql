-- Returns a text as names are searched: without case and accents.
create or replace function folded(value text) returns text language sql immutable parallel safe as $$
  select regexp_replace(normalize(lower(value), nfkd), '[\u0300-\u036f]', '', 'g')
$$;
