-- Returns the number of an endpoint's calls and successes since the start of a time's five minutes.
create or replace function outcomes_since(endpoint text, since timestamptz) returns table (calls bigint, delivered bigint) language sql stable as $$
  select coalesce(sum(delivered + client_errors + server_errors + other_statuses + no_responses), 0)::bigint, coalesce(sum(delivered), 0)::bigint
  from delivery_outcomes where endpoint_id = endpoint and at >= date_bin('5 minutes', since, 'epoch')
$$;
