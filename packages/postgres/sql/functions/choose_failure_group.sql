-- Returns the failure group of a dead letter: that of its line, or the endpoint's group for many different responses.
--
-- For one status an endpoint has at most five lines with failures or dead letters, and about 100 in all. Further responses of that status share one
-- group: a partner with a different sentence in every response has one cause, not a hundred. earlier is the number of lines of that status
-- before this one in the same write. groups are described in packages/postgres/src/deliveries/failureGroupsOf.ts.
create or replace function choose_failure_group(organization text, endpoint text, groups jsonb, earlier bigint)
returns jsonb language sql stable as $$
  select case when groups->'overflow' = 'null'
    or exists (select from failure_groups where organization_id = organization and id = groups->'exact'->>'id')
    or earlier < 5 and (
      select count(*) < 100 and 5 > earlier + count(*) filter (
        where outcome = groups->'exact'->>'outcome' and status is not distinct from (groups->'exact'->>'status')::int
          and (closed_at is null or stored > 0))
      from failure_groups where organization_id = organization and endpoint_id = endpoint)
  then groups->'exact' else groups->'overflow' end
$$;
