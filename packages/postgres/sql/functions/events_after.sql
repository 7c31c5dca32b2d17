-- Returns the first events of a log after a position, in order: one range of events_log, or of events_by_type for each given type.
create or replace function events_after(
  organization text, types text[], after_at timestamptz, after_id text, before timestamptz, max_rows integer
)
returns table (id text, type text, emitted_at timestamptz)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_bitmapscan = off
  set enable_sort = off as $$
#variable_conflict use_column
begin
  if types is null then
    return query
    select id, type, emitted_at from events
    where organization_id = organization and emitted_at >= after_at and (emitted_at, id) > (after_at, after_id)
      and emitted_at < before
    order by emitted_at, id limit max_rows;
  else
    return query
    select each.* from (select distinct type from unnest(types) as given (type)) wanted
    cross join lateral (
      select id, wanted.type, emitted_at from events
      where organization_id = organization and type = wanted.type and emitted_at >= after_at
        and (emitted_at, id) > (after_at, after_id) and emitted_at < before
      order by type, emitted_at, id limit max_rows
    ) each
    order by emitted_at, id limit max_rows;
  end if;
end
$$;
