-- Returns an endpoint's URL for display. Partners put tokens into the query, and into long path segments.
create or replace function shown_url(url text) returns text language sql immutable as $$
  select regexp_replace(regexp_replace(url, '\?.*$', '?…'), '(?<=[^/:]/)[^/?]{20,}', '…', 'g')
$$;
