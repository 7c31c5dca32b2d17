-- Deletes the removed endpoints of whose history nothing is kept any more, with their secrets; returns how many.
--
-- What was delivered is kept for history_days: no search of it goes by endpoint, so the time of the removal decides.
create or replace function forget_removed(history_days integer) returns integer language plpgsql as $$
#variable_conflict use_column
declare
  gone constant text[] := (with chosen as materialized (
    select endpoint.id from webhook_endpoints endpoint
    where removed_at < plausible_now() - make_interval(days => history_days + 1) and not is_doubtful(removed_at)
      and not exists (select from deliveries where endpoint_id = endpoint.id)
      and not exists (select from dead_letters where endpoint_id = endpoint.id)
      and not exists (select from failure_groups where organization_id = endpoint.organization_id and endpoint_id = endpoint.id)
      and not exists (select from delivery_outcomes where endpoint_id = endpoint.id)
      and not exists (select from inbox where organization_id = endpoint.organization_id and endpoint_id = endpoint.id)
    order by removed_at limit 100 for update of endpoint skip locked
  ) select coalesce(array_agg(id), '{}') from chosen);
begin
  delete from signing_secrets where endpoint_id = any (gone);
  delete from reader_positions where endpoint_id = any (gone);
  delete from endpoint_readers where endpoint_id = any (gone);
  delete from breaker_changes where endpoint_id = any (gone);
  delete from webhook_endpoints where id = any (gone);
  return cardinality(gone);
end
$$;
