-- Returns the group of failures that a dead letter joins: the one of its line, or the one of its endpoint for many different responses.
--
-- An endpoint has about 100 groups. A partner whose every response is another one gets one more group, for all the others. groups are described in
-- packages/postgres/src/deliveries/failureGroupsOf.ts.
create or replace function choose_failure_group(organization text, endpoint text, groups jsonb) returns jsonb language sql stable as $$
  select case when groups->'overflow' = 'null'
    or exists (select from failure_groups where organization_id = organization and id = groups->'exact'->>'id')
    or (select count(*) < 100 from failure_groups where organization_id = organization and endpoint_id = endpoint)
  then groups->'exact' else groups->'overflow' end
$$;
