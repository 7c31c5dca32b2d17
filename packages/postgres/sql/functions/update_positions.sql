-- Adds events to those that are open for endpoints, or removes some, and advances positions.
--
-- opened or closed lists events of an endpoint, separated by commas. An empty position keeps the stored one, and a position never goes back,
-- because an operator may have advanced it. So a statement that runs late, after its worker gave it up, does no harm.
-- An earlier statement of the transaction must have locked the endpoints' rows of endpoint_readers.
-- A row is updated 32 times, then replaced by one of the next generation. A long transaction keeps all versions of all
-- rows, and a search for the newest generation passes the versions of only one row.
create or replace function update_positions(endpoints text[], opened text[], closed text[], positions text[], position_ids text[]) returns void
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
  with latest as materialized (
    select row_ctid, organization_id, endpoint_id, generation, updates, place.*,
      case when opened = ''
        then array(select event from unnest(open) as event where event <> all ((select string_to_array(closed, ','))::text[]))
        else open || array(select event from unnest(string_to_array(opened, ',')) as event where event <> all (open)) end as open,
      case when opened = '' then intended_at else clock_timestamp() end as intended_at
    from unnest(endpoints, opened, closed, positions, position_ids) as change (id, opened, closed, position_at, position_id)
    cross join lateral (
      select ctid as row_ctid, * from reader_positions where endpoint_id = change.id order by generation desc limit 1
    ) position
    cross join lateral (
      select at, id from (values (begun_at, begun_id), (nullif(position_at, '')::timestamptz, position_id)) as either (at, id)
      where at is not null order by at desc, id collate "C" desc limit 1
    ) place
  ), updated as (
    update reader_positions set begun_at = latest.at, begun_id = latest.id, open = latest.open, intended_at = latest.intended_at,
      updates = latest.updates + 1
    from latest where reader_positions.ctid = row_ctid and latest.updates < 32
  ), replaced as (
    delete from reader_positions using latest where reader_positions.ctid = row_ctid and latest.updates >= 32
  )
  insert into reader_positions (organization_id, endpoint_id, generation, begun_at, begun_id, open, intended_at)
  select organization_id, endpoint_id, generation + 1, at, id, open, intended_at from latest where updates >= 32;
end
$$;
