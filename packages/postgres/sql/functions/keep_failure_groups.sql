-- Keeps the counts of groups of failures, and the count of deliveries that died, in the statement that writes dead letters.
create or replace function keep_failure_groups() returns trigger language plpgsql as $$
#variable_conflict use_column
begin
  if tg_op = 'INSERT' then
    -- Before the groups, as whoever writes outcomes does: all lock in one order.
    insert into delivery_outcomes as held (organization_id, endpoint_id, at, dead_letters)
    select organization_id, endpoint_id, date_bin('5 minutes', finished_at, 'epoch') as at, count(*) from added
    group by organization_id, endpoint_id, 3 order by at, endpoint_id
    on conflict (endpoint_id, at, seconds, organization_id) do update set dead_letters = held.dead_letters + excluded.dead_letters;
    perform count_failures(array_agg(organization_id), array_agg(group_id), array_agg(id), array_agg(finished_at),
      array_agg((replayed_as is null)::int), array_agg(1))
    from added having count(*) > 0;
  elsif tg_op = 'DELETE' then
    perform count_failures(array_agg(organization_id), array_agg(group_id), array_agg(id), array_agg(finished_at),
      array_agg(-(replayed_as is null)::int), array_agg(-1))
    from removed having count(*) > 0;
  else
    perform count_failures(array_agg(organization_id), array_agg(group_id), array_agg(id), array_agg(finished_at),
      array_agg(opened), array_agg(stored))
    from (
      select organization_id, group_id, id, finished_at, (replayed_as is null)::int as opened, 1 as stored from added
      union all
      select organization_id, group_id, id, finished_at, -(replayed_as is null)::int, -1 from removed
    ) change
    having count(*) > 0;
  end if;
  return null;
end
$$;
