-- Applies the decision of `decideClaim` to the rows that lock_due_messages locked earlier in the transaction; returns the leases.
--
-- decision has the leases, the deferrals, the next slots of rates, the counts of ramps, and the turns to advance. A deferral
-- with a scope goes behind earlier ones of that scope: each campaign has its own queue for a rate, so that a long one doesn't delay the others.
create or replace function lease_messages(decision jsonb, lease_seconds double precision)
returns table (recipient_id text, lease_token uuid)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
  return query
  update messages message set lease_token = gen_random_uuid(), lease_until = clock_timestamp() + make_interval(secs => lease_seconds)
  from jsonb_to_recordset(decision -> 'leases') as lease ("organizationId" text, "recipientId" text)
  where message.organization_id = "organizationId" and message.recipient_id = "recipientId"
  returning message.recipient_id, message.lease_token;

  update send_rates set next_at = to_timestamp(used.next_at::double precision)
  from jsonb_each_text(decision -> 'rates') as used (used_scope, next_at) where scope = used_scope;

  update senders set ramp_day_number = ramp_day(ramp_day_number, ramp_counted_on, ramp_sent, day), ramp_counted_on = day,
    ramp_sent = case when ramp_counted_on = day then ramp_sent else 0 end + times
  from jsonb_to_recordset(decision -> 'ramps') as used ("organizationId" text, "senderId" text, day date, times integer)
  where organization_id = "organizationId" and id = "senderId";

  if decision -> 'deferrals' <> '[]' then
    with deferral as materialized (
      select given.*, case when scope is null then to_timestamp(until)
        else greatest(rate.next_at, to_timestamp(until)) + rank * interval '60 seconds' / "perMinute" end as due
      from jsonb_to_recordset(decision -> 'deferrals')
        as given ("organizationId" text, "recipientId" text, scope text, until double precision, rank integer, "perMinute" integer)
      left join send_rates rate using (scope)
    ), deferred as (
      update messages message set due_at = due from deferral
      where message.organization_id = "organizationId" and message.recipient_id = "recipientId"
    )
    insert into send_rates (scope, next_at)
    select scope, max(due) + interval '60 seconds' / "perMinute" from deferral where scope is not null group by scope, "perMinute"
    on conflict (scope) do update set next_at = excluded.next_at;
  end if;

  perform advance_turns(
    array(select jsonb_array_elements_text(nullif(decision -> 'organizations', 'null'))),
    array_agg("organizationId"), array_agg("campaignId"),
    array(select value ->> 'organizationId' from jsonb_array_elements(decision -> 'served')),
    array(select value ->> 'campaignId' from jsonb_array_elements(decision -> 'served')))
  from jsonb_to_recordset(decision -> 'campaigns') as given ("organizationId" text, "campaignId" text);
end
$$;
