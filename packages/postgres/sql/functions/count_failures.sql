-- Adds changes of dead letters to the counts of their groups. The statement that writes, replays or deletes dead letters calls it.
--
-- A change is { organization_id, group_id, finished_at, opened, stored, failure_group }: the dead letter's group, when it died, and what to
-- add to the group's counts. Where it adds to stored, failure_group describes the group, which may be new.
-- The groups are locked in the order of their ids, after rows of delivery_outcomes. One without dead letters is deleted, and with it the line of a
-- response that is stored no more.
create or replace function count_failures(changes jsonb) returns void language plpgsql strict as $$
#variable_conflict use_column
declare
  organizations text[];
  groups text[];
  ats timestamptz[];
  opens integer[];
  stores integer[];
begin
  select array_agg(organization_id), array_agg(group_id), array_agg(finished_at), array_agg(opened), array_agg(stored)
  into organizations, groups, ats, opens, stores
  from jsonb_to_recordset(changes)
    as change (organization_id text, group_id text, finished_at timestamptz, opened integer, stored integer);

  loop
    insert into failure_groups (organization_id, id, endpoint_id, reason, status, outcome, first_line, first_at, last_at)
    select distinct on (organization_id, group_id) organization_id, group_id, failure_group->>'endpointId', failure_group->>'reason',
      (failure_group->>'status')::int, failure_group->>'outcome', failure_group->>'line', finished_at, finished_at
    from jsonb_to_recordset(changes)
      as change (organization_id text, group_id text, finished_at timestamptz, stored integer, failure_group jsonb)
    where stored > 0
    order by organization_id, group_id
    on conflict do nothing;

    perform from failure_groups
    where (organization_id, id) in (select organization, failure_group from unnest(organizations, groups) as change (organization, failure_group))
    order by organization_id, id for update;
    -- Another transaction may have deleted one in the meantime.
    exit when not exists (
      select from unnest(organizations, groups, stores) as change (organization, failure_group, stored)
      where change.stored > 0 and not exists (select from failure_groups where organization_id = organization and id = failure_group));
  end loop;

  update failure_groups held set open = held.open + opened, stored = held.stored + change.stored,
    first_at = least(held.first_at, change.first_at), last_at = greatest(held.last_at, change.last_at)
  from (
    select organization, failure_group, sum(opened)::int as opened, sum(stored)::int as stored,
      min(at) filter (where stored > 0) as first_at, max(at) filter (where stored > 0) as last_at
    from unnest(organizations, groups, ats, opens, stores) as each (organization, failure_group, at, opened, stored)
    group by organization, failure_group
  ) change
  where held.organization_id = organization and held.id = failure_group;

  insert into failure_group_hours as held (organization_id, group_id, hour, count)
  select organization, failure_group, date_trunc('hour', at, 'UTC') as hour, sum(stored)
  from unnest(organizations, groups, ats, stores) as each (organization, failure_group, at, stored)
  group by organization, failure_group, hour having sum(stored) <> 0
  order by organization, failure_group, hour
  on conflict (organization_id, group_id, hour) do update set count = held.count + excluded.count;

  if -1 = any (stores) then
    delete from failure_group_hours using unnest(organizations, groups) as change (organization, failure_group)
    where organization_id = organization and group_id = failure_group and count <= 0;
    delete from failure_groups using unnest(organizations, groups) as change (organization, failure_group)
    where organization_id = organization and id = failure_group and stored <= 0;
  end if;
end
$$;
