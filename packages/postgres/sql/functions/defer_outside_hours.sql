-- Defers messages of a campaign that are due outside of its hours: those among the first of its queue, until the hours open.
--
-- A claim calls it for each campaign of which it finds such a message, because it looks by itself at no more messages than the worker may hold.
-- Measured with a closed campaign of 60,000 beside another one: the queue is clean after 240 claims of 14 ms instead of 4,000 claims of 6 ms, each
-- of which leaves the other campaign half of its slots. With 2,000 messages at once a claim takes 69 ms, and the queue is clean hardly sooner.
create or replace function defer_outside_hours(organization text, campaign text, hours_from smallint, hours_to smallint, now_at timestamptz) returns void
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  max_rows constant integer := 250;
begin
  with due as materialized (
    select organization_id, recipient_id from messages
    where organization_id = organization and campaign_id = campaign
      and due_at <= now_at and (lease_until is null or lease_until < now_at)
    order by due_at, recipient_id limit max_rows for update skip locked
  ), placed as materialized (
    select recipient_id, time_zones from due join recipient_fields using (organization_id, recipient_id) where time_zones is not null
  ), opening as materialized (
    select time_zones, next_opening(hours_from, hours_to, time_zones, now_at) as opens_at
    from (select distinct time_zones from placed) each
  )
  update messages message set due_at = opens_at
  from placed join opening using (time_zones)
  where opens_at > now_at and message.organization_id = organization and message.recipient_id = placed.recipient_id;
end
$$;
