-- Returns an endpoint's address as it may be shown. Partners keep tokens in the query, and in long segments of the path.
create or replace function shown_url(url text) returns text language sql immutable as $$
  select regexp_replace(regexp_replace(url, '\?.*$', '?…'), '(?<=[^/:]/)[^/?]{20,}', '…', 'g')
$$;
