-- Makes due now what was deferred by a clock that was ahead and was not believed. Nothing else is due as late as the times that it showed.
--
-- A lease lasts ten minutes more, so that its holder can still settle it. A ramp goes on with the day that was counted.
create or replace function bring_forward(now_at timestamptz) returns void language plpgsql set timezone = 'UTC' as $$
declare
  from_at constant timestamptz := (select min(first_at) from clock_faults where first_at > now_at);
begin
  if from_at is null then return; end if;
  update messages set due_at = case when due_at >= from_at and due_at < 'infinity' then now_at else due_at end,
    lease_until = case when lease_until >= from_at then now_at + interval '10 minutes' else lease_until end
  where (due_at >= from_at and due_at < 'infinity') or lease_until >= from_at;
  update deliveries set due_at = now_at where due_at >= from_at;
  update endpoint_readers set probe_at = now_at where probe_at >= from_at;
  update domain_pauses set until = now_at where until >= from_at;
  update sender_ramps set counted_on = now_at::date where counted_on >= from_at::date and counted_on > now_at::date;
  delete from send_rates where next_at >= from_at;
end
$$;
