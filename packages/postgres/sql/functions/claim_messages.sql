-- Leases messages that are due, within the rates of all campaigns, of each campaign and of each recipient domain.
--
-- Claims take turns under an advisory lock, so that each one sees what earlier claims have used of the rates.
-- It returns one row for each lease, or one row without a lease. Each row repeats how many messages were put off.
-- A worker passes how many messages of each campaign it holds (held_by_campaign) and gets fewer of those campaigns.
-- A campaign whose mail servers answer slowly therefore cannot fill the worker.
-- The plan is made once for a connection. It must not scan a table from end to end, however short the table was then.
create or replace function claim_messages(
  max_rows integer, scan_limit integer, lease_seconds double precision, in_all_minute integer, per_domain_minute integer,
  max_per_campaign integer, held_by_campaign jsonb
)
returns table (put_off_count integer, lease jsonb)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
  -- An e-mail that is sent twice cannot be called back, so a restored database is noticed here and not by the worker alone.
  if restore_fault() is not null then
    return query select 0, null::jsonb;
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('messages', 0));
  return query
  with now_at as materialized (
    select now, least(max_rows, mail_slots((select next_at from send_rates where scope = 'all'), in_all_minute, now)) as slots
    from (select clock_timestamp() as now) clock
  ), sending as materialized (
    select campaign.organization_id, campaign.id, campaign.per_minute,
      least(mail_slots(pace.next_at, campaign.per_minute, now), max_per_campaign - coalesce((held_by_campaign ->> campaign.id)::integer, 0)) as slots
    from now_at cross join campaigns campaign
    left join send_rates pace on pace.scope = 'campaign ' || campaign.id
    where campaign.status = 'sending' and campaign.window_start <= now and campaign.window_end > now
      and not quota_reached(campaign.organization_id, campaign.program_id)
      and not exists (select from organizations where id = campaign.organization_id and frozen_at is not null)
  ), looked_at as materialized (
    select message.*, sending.per_minute, sending.slots
    from sending
    cross join lateral (
      select organization_id, recipient_id, campaign_id, due_at from messages
      where organization_id = sending.organization_id and campaign_id = sending.id
        and due_at <= (select now from now_at) and (lease_until is null or lease_until < (select now from now_at))
      order by due_at, recipient_id
      limit case when sending.slots > 0 and (select slots from now_at) > 0 then scan_limit else 0 end
      for update skip locked
    ) message
    order by message.due_at, message.recipient_id
    limit scan_limit
  ), judged as (
    select looked_at.*, address.domain, greatest(pause.until, '-infinity') as paused_until,
      row_number() over (partition by address.domain, pause.until > now order by due_at, recipient_id) as domain_rank,
      mail_slots(pace.next_at, per_domain_minute, now) as domain_slots,
      greatest(pace.deferred_until, pace.next_at, now - interval '1 second') as domain_next
    from now_at cross join looked_at
    join recipients recipient
      on recipient.organization_id = looked_at.organization_id and recipient.id = looked_at.recipient_id
    cross join lateral (select lower(split_part(recipient.email, '@', -1)) as domain) address
    left join domain_pauses pause
      on pause.organization_id = looked_at.organization_id and pause.campaign_id = looked_at.campaign_id and pause.domain = address.domain
    left join send_rates pace on pace.scope = 'domain ' || address.domain
  ), waiting as (
    select organization_id, recipient_id, domain, paused_until > now as paused,
      case when paused_until > now then paused_until
        else domain_next + (domain_rank - 1) * interval '60 seconds' / per_domain_minute end as due
    from now_at cross join judged where paused_until > now or domain_rank > domain_slots
  ), put_off as (
    update messages message set due_at = due from waiting
    where message.organization_id = waiting.organization_id and message.recipient_id = waiting.recipient_id
    returning message.recipient_id
  ), ready as (
    select *, row_number() over (order by due_at, recipient_id) as send_rank
    from (
      select judged.*, row_number() over (partition by campaign_id order by due_at, recipient_id) as campaign_rank
      from now_at cross join judged where paused_until <= now and domain_rank <= domain_slots
    ) open
    where campaign_rank <= slots
  ), leased as (
    update messages message
    set lease_token = gen_random_uuid(), lease_until = now + make_interval(secs => lease_seconds)
    from now_at cross join ready
    where send_rank <= now_at.slots and message.organization_id = ready.organization_id and message.recipient_id = ready.recipient_id
    returning message.*, ready.domain, ready.per_minute
  ), used as (
    select 'all' as scope, in_all_minute as rate, count(*) as times, null::timestamptz as deferred_until from leased
    union all select 'campaign ' || campaign_id, per_minute, count(*), null from leased group by campaign_id, per_minute
    union all
    select 'domain ' || domain, per_domain_minute, count(leased), max(due) + interval '60 seconds' / per_domain_minute
    from (
      select domain, 1 as leased, null::timestamptz as due from leased
      union all select domain, null, due from waiting where not paused
    ) of_domain
    group by domain
  ), counted as (
    insert into send_rates as pace (scope, next_at, deferred_until)
    select scope, greatest(old.next_at, now - interval '1 second') + times * interval '60 seconds' / rate,
      coalesce(greatest(used.deferred_until, old.deferred_until), '-infinity')
    from now_at cross join used left join send_rates old using (scope)
    where rate is not null and (times > 0 or used.deferred_until is not null)
    on conflict (scope) do update set next_at = excluded.next_at, deferred_until = excluded.deferred_until
  )
  select (select count(*)::int from put_off) as put_off_count, case when leased.recipient_id is not null then jsonb_build_object(
    'organizationId', leased.organization_id, 'campaignId', leased.campaign_id, 'programId', recipient.program_id,
    'recipientId', leased.recipient_id, 'leaseToken', leased.lease_token, 'token', recipient.token, 'email', recipient.email,
    'attempt', leased.attempts + 1, 'unknownOutcomes', leased.unknown_outcomes) end as lease
  from (select) one
  left join (leased join recipients recipient on recipient.organization_id = leased.organization_id and recipient.id = leased.recipient_id)
    on true;
end
$$;
