-- Returns the group of failures that a dead letter joins: the one of its line, or the one of its endpoint for many different responses.
--
-- Of one status an endpoint has at most five lines that last or have dead letters, and about 100 in all. Every further response of that status joins one
-- group more: a partner whose every response is another sentence has one cause, and not a hundred. earlier is how many lines of that status come
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
