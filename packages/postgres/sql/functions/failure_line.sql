-- Returns the line of a response by which failures are grouped: the first with text, without markup, at most 160 characters; null for none.
--
-- What differs from one response to the next, and may name somebody, is masked: addresses, NPIs, tokens, ids, times and numbers. Three digits
-- that may be a status stay. JSON is read as one line. The console shows the line to everybody, so packages/postgres/test holds it to this.
create or replace function failure_line(response text) returns text language sql immutable parallel safe as $$
  select nullif(btrim(left(regexp_replace(
    regexp_replace(
      regexp_replace(
        regexp_replace(
          regexp_replace(line, '[^\s"''<>(),;:=]+(@|%40|\\u0040)[^\s"''<>(),;:=]+', '[e-mail]', 'gi'),
          -- A word with a digit, such as an id, a token or a date.
          '\m(?=[\w-]*\d)[\w-]{6,}', '#', 'g'),
        -- A token without a digit: capitals within a word.
        '\m(?=\w*[a-z]\w*[A-Z])[A-Za-z]{6}\M', '#', 'g'),
      '(?<!\d)(?![1-5]\d\d(?!\d))\d+', '#', 'g'),
    '[\s[:cntrl:]]+', ' ', 'g'), 160)), '')
  from (
    select substring(case when body ~ '^\s*[[{]' then regexp_replace(body, '\s+', ' ', 'g') else body end from '\S[^\n\r]*') as line
    from (
      select regexp_replace(
        regexp_replace(regexp_replace(left(response, 2000), '<script\M.*?</script>', '', 'gi'), '<style\M.*?</style>', '', 'gi'),
        '<[^>]*(>|$)', E'\n', 'g') as body
    ) text
  ) first
$$;
