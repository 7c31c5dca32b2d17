-- Adds failed calls and changes of dead letters to their groups. Called by the statement that writes, replays or deletes dead letters, or writes outcomes.
--
-- A change is { organization_id, group_id, at, failures, calls_before, delivered_before, delivered_then, reason, opened, stored, failure_group }:
-- the time of the failure or death, the number of failed calls, the counts of delivery_outcomes before, and the changes of the
-- dead letters' counts. If it adds to failures or stored, failure_group describes the group, which may be new.
-- The first failure of a closed group opens a new episode. The groups are locked in the order of their ids, after rows of
-- delivery_outcomes. A group without dead letters loses its line, because erased responses may have had it; the next failure restores it.
create or replace function count_failures(changes jsonb) returns void language plpgsql strict as $$
#variable_conflict use_column
declare
  change jsonb := changes->0;
begin
  -- Usually one cause continues without dead letters. This costs half as much as the statements below.
  if jsonb_array_length(changes) = 1 and change->>'reason' is null then
    update failure_groups set failures = failures + (change->>'failures')::int, last_at = (change->>'at')::timestamptz,
      delivered_then = (change->>'delivered_then')::int
    where id = change->>'group_id' and organization_id = change->>'organization_id' and closed_at is null
      -- An erasure may have cleared the line.
      and first_line is not distinct from change->'failure_group'->>'line';
    if found then return; end if;
  end if;

  insert into failure_groups as held (organization_id, id, endpoint_id, status, outcome, first_line, failures, opened_at, last_at, closed_at,
    calls_before, delivered_before, delivered_then, rejected, exhausted, poison, open, stored)
  -- A change without a description of its group can't create one.
  select organization_id, group_id, coalesce(cause->>'endpointId', ''), (cause->>'status')::int, coalesce(cause->>'outcome', ''), cause->>'line',
    failures, at, at, case when failures = 0 then at end, calls_before, delivered_before, delivered_then, rejected, exhausted, poison, open, stored
  from (
    select organization_id, group_id, (array_agg(failure_group) filter (where failure_group is not null))[1] as cause, max(at) as at,
      coalesce(sum(failures), 0) as failures, coalesce(max(calls_before), 0) as calls_before,
      coalesce(max(delivered_before), 0) as delivered_before, coalesce(max(delivered_then), 0) as delivered_then,
      coalesce(sum(opened) filter (where reason = 'rejected'), 0) as rejected,
      coalesce(sum(opened) filter (where reason = 'exhausted'), 0) as exhausted,
      coalesce(sum(opened) filter (where reason = 'poison'), 0) as poison, coalesce(sum(opened), 0) as open,
      coalesce(sum(stored), 0) as stored
    from jsonb_to_recordset(changes) as change (
      organization_id text, group_id text, at timestamptz, failures integer, calls_before integer, delivered_before integer,
      delivered_then integer, reason text, opened integer, stored integer, failure_group jsonb)
    group by organization_id, group_id
  ) change
  order by organization_id, group_id
  on conflict (id, organization_id) do update set
    first_line = coalesce(excluded.first_line, held.first_line),
    failures = case when excluded.failures = 0 or held.closed_at is null then held.failures else 0 end + excluded.failures,
    last_at = case when excluded.failures = 0 then held.last_at else excluded.last_at end,
    closed_at = case when excluded.failures = 0 then held.closed_at end,
    delivered_then = case when excluded.failures = 0 then held.delivered_then else excluded.delivered_then end,
    opened_at = case when excluded.failures > 0 and held.closed_at is not null then excluded.opened_at else held.opened_at end,
    calls_before = case when excluded.failures > 0 and held.closed_at is not null then excluded.calls_before else held.calls_before end,
    delivered_before = case when excluded.failures > 0 and held.closed_at is not null
      then excluded.delivered_before else held.delivered_before end,
    rejected = held.rejected + excluded.rejected, exhausted = held.exhausted + excluded.exhausted, poison = held.poison + excluded.poison,
    open = held.open + excluded.open, stored = held.stored + excluded.stored;

  if jsonb_path_exists(changes, '$[*] ? (@.stored < 0)') then
    update failure_groups set first_line = null
    from jsonb_to_recordset(changes) as change (organization_id text, group_id text)
    where failure_groups.organization_id = change.organization_id and id = change.group_id and failure_groups.stored <= 0;
    delete from failure_groups using jsonb_to_recordset(changes) as change (organization_id text, group_id text)
    where failure_groups.organization_id = change.organization_id and failure_groups.id = change.group_id
      and failure_groups.stored <= 0 and closed_at is not null and muted_at is null;
  end if;
end
$$;
