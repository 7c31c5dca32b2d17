-- Sets the next turns of campaigns and their organizations. The caller locked their rows before it searched for messages.
--
-- A campaign with claimed messages goes to the end of the queue. One without due messages returns with its first due message or the end of a lease,
-- within a minute at most; one at its rate when that allows; one at its sender's daily ramp limit the same way, with the next day.
-- An organization without claimed messages keeps its place.
-- The two served arrays have an entry for each message, in order: a campaign or organization that was served together with others comes later
-- if it got more messages, or as many but later.
create or replace function advance_turns(
  organizations text[], campaign_organizations text[], campaigns text[], served_organizations text[], served_campaigns text[]
) returns void
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  now_at constant timestamptz := clock_timestamp();
  tomorrow constant timestamptz := date_trunc('day', now_at, 'UTC') + interval '1 day';
begin
  delete from campaign_turns turn using unnest(campaign_organizations, campaigns) as given (organization_id, campaign_id)
  where turn.organization_id = given.organization_id and turn.campaign_id = given.campaign_id and not exists (
    select from campaigns campaign
    where campaign.organization_id = given.organization_id and campaign.id = given.campaign_id and status = 'sending');

  update campaign_turns turn set next_at = least(now_at + interval '1 minute', greatest(now_at, pace.next_at,
    case when exists (select from sender_of(campaign.organization_id, campaign.program_id) where slots = 0) then tomorrow end,
    case
      when campaign.window_start > now_at then campaign.window_start
      -- The transaction that removes the reason sets no turn.
      when campaign.window_end <= now_at or quota_reached(campaign.organization_id, campaign.program_id) then now_at + interval '5 seconds'
      when exists (
        select from messages message
        where message.organization_id = given.organization_id and message.campaign_id = given.campaign_id
          and due_at <= now_at and (lease_until is null or lease_until < now_at)
      ) then now_at + interval '1 microsecond'
        * (10 * cardinality(array_positions(served_campaigns, campaign.id)) + coalesce(array_position(served_campaigns, campaign.id), 0))
      else least((
        select due_at from messages message
        where message.organization_id = given.organization_id and message.campaign_id = given.campaign_id and due_at > now_at
        order by due_at limit 1
      ), (
        select min(lease_until) from messages message
        where message.organization_id = given.organization_id and message.campaign_id = given.campaign_id and due_at <= now_at
      ), 'infinity')
    end))
  from unnest(campaign_organizations, campaigns) as given (organization_id, campaign_id)
  join campaigns campaign on campaign.organization_id = given.organization_id and campaign.id = given.campaign_id
  left join send_rates pace on campaign.per_minute is not null and pace.scope = 'campaign ' || campaign.id
  where turn.organization_id = given.organization_id and turn.campaign_id = given.campaign_id;

  update organization_turns turn set next_at = greatest(first.next_at, case when organization_id = any (served_organizations)
    then now_at + interval '1 microsecond'
      * (10 * cardinality(array_positions(served_organizations, organization_id)) + array_position(served_organizations, organization_id)) else turn.next_at end)
  from unnest(organizations) as given (id) cross join lateral (
    select next_at from campaign_turns where organization_id = given.id order by next_at limit 1
  ) first
  where organization_id = given.id;
  delete from organization_turns turn using unnest(organizations) as given (id)
  where turn.organization_id = given.id and not exists (select from campaign_turns where organization_id = given.id);
end
$$;
