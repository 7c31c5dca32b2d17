-- Adds changes of dead letters to the counts of their groups: for each change a dead letter, its group, when it died, and what to add.
--
-- The groups are locked in the order of their ids. One without dead letters is deleted, and with it the line of a response that is held no more.
create or replace function count_failures(organizations text[], groups text[], ids text[], ats timestamptz[], opens integer[], stores integer[])
returns void language plpgsql as $$
#variable_conflict use_column
declare
  meant integer;
  locked integer;
begin
  loop
    insert into failure_groups (organization_id, id, endpoint_id, reason, status, outcome, first_line, first_at, last_at)
    select organization, failure_group, endpoint_id, reason, status, outcome,
      case when failure_group = failure_group_id(endpoint_id, reason, status, outcome, line) then line else 'Many different responses' end,
      finished_at, finished_at
    from (
      select organization, failure_group, min(change.id) as example
      from unnest(organizations, groups, ids, stores) as change (organization, failure_group, id, stored)
      where stored > 0 and not exists (
        select from failure_groups known where known.organization_id = organization and known.id = failure_group
      )
      group by organization, failure_group
    ) missing
    join dead_letters on organization_id = organization and dead_letters.id = example
    cross join lateral failure_of(attempts) failure
    order by organization, failure_group
    on conflict do nothing;

    with change as (
      select organization, failure_group from unnest(organizations, groups, opens, stores) as each (organization, failure_group, opened, stored)
      where failure_group is not null
      group by organization, failure_group having sum(opened) <> 0 or sum(stored) <> 0
    ), held as (
      select id from failure_groups where (organization_id, id) in (select organization, failure_group from change)
      order by organization_id, id for update
    )
    select (select count(*) from change), (select count(*) from held) into meant, locked;
    -- Somebody else may have deleted one in the meantime.
    exit when locked = meant;
  end loop;

  update failure_groups held set open = held.open + opened, stored = held.stored + change.stored,
    first_at = least(held.first_at, change.first_at), last_at = greatest(held.last_at, change.last_at)
  from (
    select organization, failure_group, sum(opened)::int as opened, sum(stored)::int as stored,
      min(at) filter (where stored > 0) as first_at, max(at) filter (where stored > 0) as last_at
    from unnest(organizations, groups, ats, opens, stores) as each (organization, failure_group, at, opened, stored)
    group by organization, failure_group having sum(opened) <> 0 or sum(stored) <> 0
  ) change
  where held.organization_id = organization and held.id = failure_group;

  insert into failure_group_hours as held (organization_id, group_id, hour, count)
  select organization, failure_group, date_trunc('hour', at, 'UTC') as hour, sum(stored)
  from unnest(organizations, groups, ats, stores) as each (organization, failure_group, at, stored)
  where failure_group is not null
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
