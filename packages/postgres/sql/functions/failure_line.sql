-- Returns the line of a response by which failures are grouped: the first with text, without markup, at most 160 characters; null for none.
--
-- What differs from one response to the next, and may name somebody, is masked: addresses, NPIs, tokens, ids, times and numbers. Three digits
-- stay where they are a status: after "status", "HTTP", "code" or "error". JSON is read as one line. The console shows the line to everybody, so failureLine.test.ts holds it to this.
-- Regular expressions are slow: each runs where it finds something, and on no more than is shown.
create or replace function failure_line(response text) returns text language plpgsql immutable parallel safe as $$
declare
  -- A word that is cut may be half an address.
  cut_word constant text := '[^\s"''<>(),;:=]*$';
  -- Precedes a number that stays.
  marker constant text := E'\x01';
  line text := replace(left(response, 1000), marker, ' ');
begin
  if length(response) > 1000 then
    line := regexp_replace(line, cut_word, '');
  end if;
  if strpos(line, '<') > 0 then
    line := regexp_replace(regexp_replace(line, '<script\M.*?</script>', '', 'gi'), '<style\M.*?</style>', '', 'gi');
    line := regexp_replace(line, '<[^>]*(>|$)', E'\n', 'g');
  end if;
  line := ltrim(line, E' \t\r\n\f');
  if left(line, 1) in ('{', '[') then
    line := translate(line, E'\r\n', '  ');
  end if;
  line := substring(line from '[^\r\n]+');
  if length(line) > 240 then
    line := regexp_replace(left(line, 240), cut_word, '');
  end if;
  if line ~* '@|%40|\\u0040' then
    line := regexp_replace(line, '[^\s"''<>(),;:=]+(@|%40|\\u0040)[^\s"''<>(),;:=]+', '[e-mail]', 'gi');
  end if;
  if line ~ '\d' then
    if line ~* 'status|http|code|error' then
      line := regexp_replace(
        line,
        '(\m(?:http|response|status|error)?[ _-]?(?:http|status|code|error)\M(?:/\d(?:\.\d)?)?["'']?(?: is| was)?[\s:=#(/"''-]{1,4})([1-5]\d\d)(?![\w-]|\.\d)',
        '\1' || marker || '\2', 'gi');
    end if;
    -- A word with a digit, such as an id, a token or a date; and then every other number.
    line := regexp_replace(line, '\m(?=[\w-]*\d)[\w-]{6,}', '#', 'g');
    line := replace(regexp_replace(line, '(?<![\d' || marker || '])\d+', '#', 'g'), marker, '');
  end if;
  -- A token without a digit: capitals within a word.
  line := regexp_replace(line, '\m(?=\w*[a-z]\w*[A-Z])[A-Za-z]{6}\M', '#', 'g');
  return nullif(btrim(left(regexp_replace(line, '[\s[:cntrl:]]+', ' ', 'g'), 160)), '');
end
$$;
