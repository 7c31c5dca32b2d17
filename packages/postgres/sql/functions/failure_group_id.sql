-- Derives the id of a group of failures from what its dead letters have in common.
create or replace function failure_group_id(endpoint_id text, reason text, status integer, outcome text, line text) returns text
language sql immutable as $$
  select 'fgr_' || left(encode(sha256(convert_to(
    concat_ws(E'\n', endpoint_id, reason, coalesce(status::text, ''), outcome, coalesce(line, '')), 'UTF8')), 'hex'), 32)
$$;
