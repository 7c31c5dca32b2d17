-- Returns the newest waiting deliveries of an endpoint's log, with ids below another and of events between two ids.
--
-- Returns at least the requested number: deliveries of one millisecond have another order than their events.
-- Few waiting events are read in the order of the log. Among many, the newest are found by id.
create or replace function deliveries_in_log(
  endpoint text, types text[], after_at timestamptz, after_id text, lowest text, highest text, before text, max_rows integer
)
returns table (id text, event_id text, emitted_at timestamptz)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
  organization constant text := (select organization_id from webhook_endpoints where id = endpoint);
  few constant integer := 1000;
  below constant text := substr(before, 5, 12);
  since text;
begin
  if (select count(*) from events_after(organization, types, after_at, after_id, 'infinity', few + 1)) <= few then
    return query
    select delivery_id(id, endpoint), id, emitted_at from (
      select id collate "C" as id, emitted_at from events_after(organization, types, after_at, after_id, 'infinity', few)
    ) each
    where id >= lowest and id <= highest
      and (substr(id, 5, 12) < below or delivery_id(id, endpoint) collate "C" < before)
    order by substr(id, 5, 12) desc fetch first max_rows rows with ties;
  else
    select substr(id, 1, 16) into since from events
    where organization_id = organization and id >= lowest and id <= highest
      and emitted_at >= after_at and (emitted_at, id) > (after_at, after_id) and (types is null or type = any (types))
      and (substr(id, 5, 12) < below or delivery_id(id, endpoint) collate "C" < before)
    order by id desc offset max_rows - 1 limit 1;
    return query
    select delivery_id(id, endpoint), id, emitted_at from events
    where organization_id = organization and id >= greatest(lowest, since) and id <= highest
      and emitted_at >= after_at and (emitted_at, id) > (after_at, after_id) and (types is null or type = any (types))
      and (substr(id, 5, 12) < below or delivery_id(id, endpoint) collate "C" < before);
  end if;
end
$$;
