-- Leases messages that are due, within the rates of all campaigns, of each campaign, of each recipient domain, and of each mail operator: who
-- runs the domain's mail servers, or the domain itself where nobody knows. A message outside of its campaign's hours is put off.
-- No sender gets more than its ramp leaves of the day; what is beyond stays as it is, and its campaign has no turn until the next day.
--
-- It looks at the few organizations and campaigns whose turn it is, and shares what may be sent among the organizations first, then among the
-- campaigns of each; what one has no use for goes to the others. Two claims take the turns of different organizations where they can.
-- Rows are locked in this order: turns and messages, where nobody else holds them; then the ramps and the rates that bind, by their
-- names, for which a claim waits. So they hold over all workers, and a claim without them waits for nobody.
--
-- It returns one row for each lease, or one row without a lease. Each row repeats how many messages were put off.
-- A worker passes how many messages of each campaign it holds (held_by_campaign) and gets fewer of those campaigns.
-- A campaign whose mail servers answer slowly therefore cannot fill the worker.
-- The plan is made once for a connection. It must not scan a table from end to end, however short the table was then.
create or replace function claim_messages(
  max_rows integer, scan_limit integer, lease_seconds double precision, in_all_minute integer, per_domain_minute integer,
  max_per_campaign integer, held_by_campaign jsonb, per_operator_minute integer default null
)
returns table (put_off_count integer, lease jsonb)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  max_organizations constant integer := 8;
  max_campaigns constant integer := 8;
  now_at timestamptz := clock_timestamp();
  today date;
  counting_days date[];
  free_slots integer;
  looked_at text[] := '{}';
  turns record;
  held record;
  due record;
  message record;
  taken record;
begin
  -- An e-mail that is sent twice cannot be called back, so a restored database is noticed here and not by the worker alone.
  if restore_fault() is not null then
    return query select 0, null::jsonb;
    return;
  end if;
  free_slots := least(max_rows, mail_slots((select next_at from send_rates where scope = 'all'), in_all_minute, now_at));

  if free_slots <= 0 then
    return query select 0, null::jsonb;
    return;
  end if;

  loop
    -- The clock is read after the rows are: a turn that another claim has just set is not ahead of it.
    with turn as materialized (
      select organization_id from organization_turns
      where next_at <= (select clock_timestamp()) and organization_id <> all (looked_at)
      order by next_at, organization_id limit max_organizations for update skip locked
    )
    select true as are_held, array_agg(organization_id) as organizations into turns from turn;
    if turns.organizations is null then
      -- Other claims hold them, and may leave something.
      select false as are_held, array_agg(organization_id) as organizations into turns from (
        select organization_id from organization_turns
        where next_at <= (select clock_timestamp()) and organization_id <> all (looked_at)
        order by next_at, organization_id limit max_organizations
      ) turn;
    end if;
    if turns.organizations is null then
      return query select 0, null::jsonb;
      return;
    end if;
    looked_at := looked_at || turns.organizations;
    select array_agg(organization_id order by place, next_at, campaign_id) as organizations,
      array_agg(campaign_id order by place, next_at, campaign_id) as campaigns
    into due
    from unnest(turns.organizations) with ordinality as given (organization, place)
    cross join lateral (
      select organization_id, campaign_id, next_at from campaign_turns
      where organization_id = given.organization and next_at <= (select clock_timestamp())
        and coalesce((held_by_campaign ->> campaign_id)::integer, 0) < max_per_campaign
      order by next_at, campaign_id limit greatest(1, max_campaigns / cardinality(turns.organizations))
    ) turn;
    -- By a statement of its own: what is read of a campaign is read after its turn is held.
    select case when turns.are_held then turns.organizations end as turns, array_agg(organization_id) as organizations, array_agg(campaign_id) as campaigns
    into held from (
      select turn.organization_id, turn.campaign_id
      from unnest(due.organizations, due.campaigns) as given (organization_id, campaign_id)
      join campaign_turns turn on turn.organization_id = given.organization_id and turn.campaign_id = given.campaign_id
      where turns.are_held for update of turn skip locked
    ) turn;

    now_at := clock_timestamp();
    today := now_at at time zone 'UTC';
    -- How many messages of each campaign are looked at.
    with look as (
      select case when scan_limit > max_rows then scan_limit else free_slots end as messages
    ), open as materialized (
      select given.*, campaign.per_minute, campaign.hours_from, campaign.hours_to, ramp.sender_id as ramp, (
          select count(*) from (
            select from messages
            where organization_id = given.organization and campaign_id = given.campaign
              and due_at <= now_at and (lease_until is null or lease_until < now_at)
            limit least(
              look.messages,
              mail_slots((select next_at from send_rates where scope = 'campaign ' || given.campaign), campaign.per_minute, now_at),
              max_per_campaign - coalesce((held_by_campaign ->> given.campaign)::integer, 0),
              ramp.slots)
          ) first_due
        ) as wanted
      from look cross join unnest(due.organizations, due.campaigns) with ordinality as given (organization, campaign, place)
      join campaigns campaign on campaign.organization_id = given.organization and campaign.id = given.campaign
      -- Nobody asks for the sender of an organization without ramps.
      left join lateral (
        select sender_id, ramp_slots(daily, day_number, counted_on, sent, today) as slots from sender_ramps
        where organization_id = campaign.organization_id and sender_id = case
          when exists (select from sender_ramps where organization_id = campaign.organization_id)
          then sender_of(campaign.organization_id, campaign.program_id) end
      ) ramp on slots < 2147483647
      where campaign.status = 'sending' and campaign.window_start <= now_at and campaign.window_end > now_at
        and not quota_reached(campaign.organization_id, campaign.program_id)
        and not exists (select from organizations where id = campaign.organization_id and frozen_at is not null)
    ), shared as (
      select open.*, row_number() over (partition by organization order by one, place) as organization_rank
      from open cross join generate_series(1, wanted) as one
      order by organization_rank, place limit (select messages from look)
    ), quota as (
      select place, organization, campaign, per_minute, hours_from, hours_to, ramp, count(*)::integer as messages from shared
      group by place, organization, campaign, per_minute, hours_from, hours_to, ramp
    )
    select array_agg(organization order by place) as organizations, array_agg(campaign order by place) as campaigns,
      array_agg(per_minute order by place) as rates, array_agg(messages order by place) as quotas,
      array_agg(hours_from order by place) as hours_from, array_agg(hours_to order by place) as hours_to,
      array_agg(ramp order by place) as ramps,
      array(select campaign from open where wanted > 0) as waiting
    into due from quota;
    exit when due.campaigns is not null;
    perform advance_turns(held.turns, held.organizations, held.campaigns, '{}', '{}');
  end loop;

  with candidate as materialized (
    select ranked.*, row_number() over (partition by organization_id order by campaign_rank, place) as organization_rank
    from (
      select found.*, place, per_minute, hours_from, hours_to, ramp, time_zones, lower(split_part(recipient.email, '@', -1)) as domain,
        row_number() over (partition by place order by due_at, found.recipient_id) as campaign_rank
      from unnest(due.organizations, due.campaigns, due.rates, due.quotas, due.hours_from, due.hours_to, due.ramps)
        with ordinality as given (organization, campaign, per_minute, quota, hours_from, hours_to, ramp, place)
      cross join lateral (
        select organization_id, campaign_id, recipient_id, due_at from messages
        where organization_id = given.organization and campaign_id = given.campaign
          and due_at <= now_at and (lease_until is null or lease_until < now_at)
        order by due_at, recipient_id limit given.quota for update skip locked
      ) found
      join recipients recipient on recipient.organization_id = found.organization_id and recipient.id = found.recipient_id
      -- Only a campaign with hours reads them.
      left join recipient_fields personal on personal.organization_id = found.organization_id
        and personal.recipient_id = case when hours_from is not null then found.recipient_id end
    ) ranked
  ), opening as materialized (
    select each.*, next_opening(hours_from, hours_to, time_zones, now_at) as opens_at
    from (select distinct hours_from, hours_to, time_zones from candidate where time_zones is not null) each
  )
  select array_agg(organization_id order by organization_rank, place) as organizations,
    array_agg(campaign_id order by organization_rank, place) as campaigns,
    array_agg(recipient_id order by organization_rank, place) as recipients,
    array_agg(per_minute order by organization_rank, place) as rates,
    array_agg(ramp order by organization_rank, place) as ramps,
    array_agg(candidate.domain order by organization_rank, place) as domains,
    array_agg(coalesce(operator, candidate.domain) order by organization_rank, place) as operators,
    array_agg(opens_at order by organization_rank, place) as openings
  into message
  from candidate
  left join opening on opening.hours_from = candidate.hours_from and opening.hours_to = candidate.hours_to
    and opening.time_zones = candidate.time_zones
  left join mail_operators known on per_operator_minute is not null and known.domain = candidate.domain;

  -- The others that are due outside of the hours, so that they are not looked at in many claims.
  perform put_off_closed(organization, campaign, hours_from, hours_to, now_at)
  from unnest(due.organizations, due.campaigns, due.hours_from, due.hours_to) as each (organization, campaign, hours_from, hours_to)
  where hours_from is not null and exists (
    select from unnest(message.campaigns, message.openings) as looked_at (of_campaign, opens_at)
    where of_campaign = campaign and opens_at > now_at);

  -- The worker looks them up.
  insert into mail_operators as known (domain)
  select distinct domain from unnest(message.domains) as each (domain) where per_operator_minute is not null order by domain
  on conflict (domain) do update set needed_at = excluded.needed_at where known.needed_at < excluded.needed_at - interval '1 day';

  if num_nonnulls(variadic message.ramps) > 0 then
    perform from (
      select distinct organization, sender from unnest(message.organizations, message.ramps) as each (organization, sender)
      where sender is not null order by organization, sender
    ) each
    cross join lateral (
      select from sender_ramps where organization_id = each.organization and sender_id = each.sender for update
    ) ramp;
    today := clock_timestamp() at time zone 'UTC';
    -- The day that was counted last goes on if the clock was set back.
    select array_agg(case when rank <= ramp_slots(daily, day_number, counted_on, sent, today) then greatest(counted_on, today) end order by place)
    into counting_days
    from (
      select *, row_number() over (partition by ramp order by place) as rank
      from unnest(message.organizations, message.ramps) with ordinality as given (organization, ramp, place)
    ) each
    left join sender_ramps tally on tally.organization_id = organization and tally.sender_id = ramp;
  end if;

  -- Whoever counts by a rate waits here for the others who do, and for the commit of what they have used of it.
  insert into send_rates as pace (scope, next_at)
  select scope, now_at - interval '1 second' from (
    select 'all' as scope where in_all_minute is not null
    union select 'campaign ' || campaign from unnest(message.campaigns, message.rates) as each (campaign, rate) where rate is not null
    union select 'domain ' || domain from unnest(message.domains) as each (domain) where per_domain_minute is not null
    union select 'operator ' || operator from unnest(message.operators) as each (operator) where per_operator_minute is not null
  ) binding
  where message.recipients is not null order by scope
  on conflict (scope) do update set next_at = pace.next_at;
  now_at := clock_timestamp();

  with candidate as materialized (
    -- A message is put off by a pause as it is by the hours, and uses nothing of a rate.
    select each.*, greatest(pause.until, opens_at, '-infinity') as paused_until
    from unnest(
      message.organizations, message.campaigns, message.recipients, message.rates, message.domains, message.operators, message.openings,
      message.ramps, counting_days
    ) with ordinality as each (organization, campaign, recipient, per_minute, domain, operator, opens_at, ramp, counting_day, place)
    left join domain_pauses pause
      on pause.organization_id = each.organization and pause.campaign_id = each.campaign and pause.domain = each.domain
    where ramp is null or counting_day is not null
  ), of_domain as (
    select candidate.*, paused_until <= now_at
      and row_number() over (partition by candidate.domain, paused_until > now_at order by place) <= mail_slots(pace.next_at, per_domain_minute, now_at) as is_open
    from candidate left join send_rates pace on pace.scope = 'domain ' || candidate.domain
  ), of_operator as (
    select of_domain.*, is_open
      and row_number() over (partition by operator, is_open order by place) <= mail_slots(pace.next_at, per_operator_minute, now_at) as is_welcome
    from of_domain left join send_rates pace on pace.scope = 'operator ' || operator
  ), of_campaign as (
    select of_operator.*, is_welcome
      and row_number() over (partition by campaign, is_welcome order by place) <= mail_slots(pace.next_at, per_minute, now_at) as is_ready
    from of_operator left join send_rates pace on pace.scope = 'campaign ' || campaign
  ), of_all as materialized (
    select of_campaign.*, is_ready and row_number() over (partition by is_ready order by place) <= least(
      max_rows, mail_slots((select next_at from send_rates where scope = 'all'), in_all_minute, now_at)) as is_taken
    from of_campaign
  ), leased as (
    update messages message
    set lease_token = gen_random_uuid(), lease_until = now_at + make_interval(secs => lease_seconds)
    from of_all where is_taken and message.organization_id = organization and message.recipient_id = recipient
    returning message.*, of_all.domain, of_all.operator, of_all.per_minute, of_all.ramp, of_all.counting_day
  ), full_up as (
    select organization, campaign, recipient, paused_until, place,
      case when paused_until > now_at then null when is_open then 'operator ' || operator else 'domain ' || domain end as scope,
      case when is_open then per_operator_minute else per_domain_minute end as rate
    from of_all where not is_welcome
  ), waiting as materialized (
    -- Each campaign has a place of its own in the queue for a rate, so that a long one does not keep the others waiting.
    select organization, campaign, recipient, rate, 'deferral ' || campaign || ' ' || full_up.scope as deferral,
      case when full_up.scope is null then paused_until
        else greatest(deferral.next_at, greatest(pace.next_at, now_at - interval '1 second')
          + mail_slots(pace.next_at, rate, now_at) * interval '60 seconds' / rate)
          + (row_number() over (partition by campaign, full_up.scope order by place) - 1) * interval '60 seconds' / rate
      end as due
    from full_up
    left join send_rates pace on pace.scope = full_up.scope
    left join send_rates deferral on deferral.scope = 'deferral ' || campaign || ' ' || full_up.scope
  ), put_off as (
    update messages message set due_at = due from waiting
    where message.organization_id = organization and message.recipient_id = recipient
  ), deferred as (
    insert into send_rates (scope, next_at)
    select deferral, max(due) + interval '60 seconds' / rate from waiting where deferral is not null group by deferral, rate
    on conflict (scope) do update set next_at = excluded.next_at
  ), used as (
    select 'all' as scope, in_all_minute as rate, count(*) as times from leased
    union all select 'campaign ' || campaign_id, per_minute, count(*) from leased group by campaign_id, per_minute
    union all select 'domain ' || domain, per_domain_minute, count(*) from leased group by domain
    union all select 'operator ' || operator, per_operator_minute, count(*) from leased group by operator
  ), counted as (
    update send_rates pace
    set next_at = greatest(pace.next_at, now_at - interval '1 second') + times * interval '60 seconds' / rate
    from used where pace.scope = used.scope and rate is not null
  ), counted_by_ramp as (
    update sender_ramps tally set day_number = ramp_day(day_number, counted_on, sent, counting_day), counted_on = counting_day,
      sent = case when counted_on = counting_day then sent else 0 end + times
    from (
      select organization_id, ramp, counting_day, count(*)::integer as times
      from leased where ramp is not null group by organization_id, ramp, counting_day
    ) used
    where tally.organization_id = used.organization_id and tally.sender_id = used.ramp
  )
  select (select count(*)::integer from waiting) as put_offs,
    array(select organization from of_all where is_taken or not is_welcome order by place) as organizations,
    array(select campaign from of_all where is_taken or not is_welcome order by place) as campaigns,
    array(
      select jsonb_build_object(
        'organizationId', leased.organization_id, 'campaignId', leased.campaign_id, 'programId', recipient.program_id,
        'recipientId', leased.recipient_id, 'leaseToken', leased.lease_token, 'token', recipient.token, 'email', recipient.email,
        'testSubject', recipient.test_subject, 'attempt', leased.attempts + 1, 'unknownOutcomes', leased.unknown_outcomes,
        'ramp', case when ramp is not null then jsonb_build_object('senderId', ramp, 'day', counting_day) end)
      from leased
      join recipients recipient on recipient.organization_id = leased.organization_id and recipient.id = leased.recipient_id
    ) as leases
  into taken;

  -- Whoever waited in vain keeps its turn.
  perform advance_turns(held.turns, array_agg(organization), array_agg(campaign), taken.organizations, taken.campaigns)
  from unnest(held.organizations, held.campaigns) as each (organization, campaign)
  where campaign <> all (due.waiting) or campaign = any (taken.campaigns);

  if cardinality(taken.leases) > 0 then
    return query select taken.put_offs, unnest(taken.leases);
  else
    return query select taken.put_offs, null::jsonb;
  end if;
end
$$;
