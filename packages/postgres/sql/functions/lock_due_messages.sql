-- Locks due messages, and the ramps and rates that limit them. Returns all of it as one
-- document; null without due messages. The transaction continues with `decideClaim` of the domain, and ends with lease_messages.
--
-- It reads the few organizations and campaigns with the next turns, and shares the allowed number first among the organizations, then among the
-- campaigns of each; unused shares go to other ones. Two claims take turns of different organizations if possible.
-- Rows are locked in this order: turns and messages that no other transaction has locked; then the applicable ramps and rates by
-- name, for which a claim waits. So limits hold for all workers, and a claim without limits doesn't wait.
--
-- A worker passes the number of its leased messages of each campaign (held_by_campaign) and gets fewer of those campaigns.
-- So a campaign with slow mail servers can't fill the worker.
-- docs/decisions/0018-organizations-take-turns-in-sending.md explains the turns.
-- The plan is made once for a connection. It must not scan whole tables, even if they were short at that time.
create or replace function lock_due_messages(
  max_rows integer, scan_limit integer, in_all_minute integer, per_domain_minute integer,
  max_per_campaign integer, held_by_campaign jsonb
) returns json
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  max_organizations constant integer := 8;
  max_campaigns constant integer := 8;
  now_at timestamptz := clock_timestamp();
  free_slots integer;
  looked_at text[] := '{}';
  turns record;
  held record;
  due record;
  message record;
  ramps json;
  rates json;
  pauses json;
begin
  -- A sent e-mail can't be recalled, so a restored database must be noticed here and not only by the worker.
  if restore_fault() is not null then
    return null;
  end if;
  free_slots := least(max_rows, mail_slots((select next_at from send_rates where scope = 'all'), in_all_minute, now_at));
  if free_slots <= 0 then
    return null;
  end if;

  -- Other claims wait for these rates. A worker that hangs in its decision loses them after five seconds.
  perform set_config('idle_in_transaction_session_timeout', '5s', true);
  loop
    -- The clock is read after the rows, so that a turn set by another claim isn't in the future.
    with turn as materialized (
      select organization_id from organization_turns
      where next_at <= (select clock_timestamp()) and organization_id <> all (looked_at)
      order by next_at, organization_id limit max_organizations for update skip locked
    )
    select true as are_held, array_agg(organization_id) as organizations into turns from turn;
    if turns.organizations is null then
      -- Other claims have locked them, and may leave some messages.
      select false as are_held, array_agg(organization_id) as organizations into turns from (
        select organization_id from organization_turns
        where next_at <= (select clock_timestamp()) and organization_id <> all (looked_at)
        order by next_at, organization_id limit max_organizations
      ) turn;
    end if;
    if turns.organizations is null then
      return null;
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
    -- A separate statement, so that a campaign is read after its turn is locked.
    select case when turns.are_held then turns.organizations end as turns, array_agg(organization_id) as organizations, array_agg(campaign_id) as campaigns
    into held from (
      select turn.organization_id, turn.campaign_id
      from unnest(due.organizations, due.campaigns) as given (organization_id, campaign_id)
      join campaign_turns turn on turn.organization_id = given.organization_id and turn.campaign_id = given.campaign_id
      where turns.are_held for update of turn skip locked
    ) turn;

    now_at := clock_timestamp();
    -- The number of messages to read of each campaign.
    with look as (
      select case when scan_limit > max_rows then scan_limit else free_slots end as messages
    ), open as materialized (
      select given.*, campaign.per_minute, ramp.sender_id as ramp, (
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
      left join lateral sender_of(campaign.organization_id, campaign.program_id) ramp on slots < 2147483647
      where campaign.status = 'sending' and campaign.window_start <= now_at and campaign.window_end > now_at
        and not quota_reached(campaign.organization_id, campaign.program_id)
    ), shared as (
      select open.*, row_number() over (partition by organization order by one, place) as organization_rank
      from open cross join generate_series(1, wanted) as one
      order by organization_rank, place limit (select messages from look)
    ), quota as (
      select place, organization, campaign, per_minute, ramp, count(*)::integer as messages from shared
      group by place, organization, campaign, per_minute, ramp
    )
    select array_agg(organization order by place) as organizations, array_agg(campaign order by place) as campaigns,
      array_agg(per_minute order by place) as rates, array_agg(messages order by place) as quotas,
      array_agg(ramp order by place) as ramps,
      array(select campaign from open where wanted > 0) as waiting
    into due from quota;
    exit when due.campaigns is not null;
    perform advance_turns(held.turns, held.organizations, held.campaigns, '{}', '{}');
  end loop;

  with candidate as materialized (
    select ranked.*, row_number() over (partition by organization_id order by campaign_rank, place) as organization_rank
    from (
      select found.*, place, per_minute, ramp, recipient.program_id, token, email,
        lower(split_part(email, '@', -1)) as domain, row_number() over (partition by place order by due_at, found.recipient_id) as campaign_rank
      from unnest(due.organizations, due.campaigns, due.rates, due.quotas, due.ramps)
        with ordinality as given (organization, campaign, per_minute, quota, ramp, place)
      cross join lateral (
        select organization_id, campaign_id, recipient_id, due_at, attempts, unknown_outcomes from messages
        where organization_id = given.organization and campaign_id = given.campaign
          and due_at <= now_at and (lease_until is null or lease_until < now_at)
        order by due_at, recipient_id limit given.quota for update skip locked
      ) found
      join recipients recipient on recipient.organization_id = found.organization_id and recipient.id = found.recipient_id
    ) ranked
  )
  select array_agg(organization_id) as organizations, array_agg(campaign_id) as campaigns, array_agg(per_minute) as rates,
    array_agg(ramp) as ramps, array_agg(domain) as domains,
    json_agg(json_build_object(
      'organizationId', organization_id, 'campaignId', campaign_id, 'programId', program_id, 'recipientId', recipient_id, 'token', token,
      'email', email, 'attempt', attempts + 1, 'unknownOutcomes', unknown_outcomes, 'domain', domain,
      'perMinute', per_minute, 'senderId', ramp
    ) order by organization_rank, place) as candidates
  into message
  from candidate;

  if num_nonnulls(variadic message.ramps) > 0 then
    -- After a clock was set back, the last counted day continues.
    select json_object_agg(sender, json_build_object(
      'slots', ramp_slots(ramp, ramp_day_number, ramp_counted_on, ramp_sent, (clock_timestamp() at time zone 'UTC')::date),
      'day', greatest(ramp_counted_on, (clock_timestamp() at time zone 'UTC')::date)
    )) into ramps
    from (
      select distinct organization, sender from unnest(message.organizations, message.ramps) as each (organization, sender)
      where sender is not null order by organization, sender
    ) each
    cross join lateral (
      select ramp, ramp_day_number, ramp_counted_on, ramp_sent from senders
      where organization_id = each.organization and id = each.sender for no key update
    ) locked;
  end if;

  -- A claim waits here for other claims with the same rates, until they commit their use.
  with locked as (
    insert into send_rates as rate (scope, next_at)
    select scope, now_at - interval '1 second' from (
      select 'all' as scope where in_all_minute is not null
      union select 'campaign ' || campaign from unnest(message.campaigns, message.rates) as each (campaign, rate) where rate is not null
      union select 'domain ' || domain from unnest(message.domains) as each (domain) where per_domain_minute is not null
    ) binding
    where message.candidates is not null order by scope
    on conflict (scope) do update set next_at = rate.next_at
    returning scope, next_at
  )
  select json_object_agg(scope, extract(epoch from next_at)::double precision) into rates from locked;

  select json_agg(json_build_object(
    'campaignId', campaign, 'domain', each.domain, 'until', extract(epoch from paused_until)::double precision)) into pauses
  from (select distinct * from unnest(message.organizations, message.campaigns, message.domains) as each (organization, campaign, domain)) each
  join campaign_domains kept on kept.organization_id = organization and kept.campaign_id = campaign and kept.domain = each.domain
  where paused_until > now_at;

  return json_build_object(
    'now', extract(epoch from clock_timestamp())::double precision, 'candidates', coalesce(message.candidates, '[]'),
    'ramps', coalesce(ramps, '{}'), 'rates', coalesce(rates, '{}'), 'pauses', coalesce(pauses, '[]'), 'heldOrganizations', held.turns,
    'heldCampaigns', (
      select coalesce(json_agg(json_build_object('organizationId', organization, 'campaignId', campaign)), '[]')
      from unnest(held.organizations, held.campaigns) as each (organization, campaign)),
    'waitingCampaigns', due.waiting);
end
$$;
