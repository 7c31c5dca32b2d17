-- Made by `pnpm schema` from the migrations; never edit it by hand.

set check_function_bodies = off;

CREATE OR REPLACE FUNCTION public.add_counts(counts integer[], others integer[])
 RETURNS integer[]
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select array[
    coalesce(counts[1], 0) + coalesce(others[1], 0), coalesce(counts[2], 0) + coalesce(others[2], 0),
    coalesce(counts[3], 0) + coalesce(others[3], 0), coalesce(counts[4], 0) + coalesce(others[4], 0),
    coalesce(counts[5], 0) + coalesce(others[5], 0), coalesce(counts[6], 0) + coalesce(others[6], 0),
    coalesce(counts[7], 0) + coalesce(others[7], 0), coalesce(counts[8], 0) + coalesce(others[8], 0),
    coalesce(counts[9], 0) + coalesce(others[9], 0), coalesce(counts[10], 0) + coalesce(others[10], 0),
    coalesce(counts[11], 0) + coalesce(others[11], 0), coalesce(counts[12], 0) + coalesce(others[12], 0),
    coalesce(counts[13], 0) + coalesce(others[13], 0), coalesce(counts[14], 0) + coalesce(others[14], 0),
    coalesce(counts[15], 0) + coalesce(others[15], 0), coalesce(counts[16], 0) + coalesce(others[16], 0),
    coalesce(counts[17], 0) + coalesce(others[17], 0), coalesce(counts[18], 0) + coalesce(others[18], 0),
    coalesce(counts[19], 0) + coalesce(others[19], 0), coalesce(counts[20], 0) + coalesce(others[20], 0)
  ]
$function$;

CREATE OR REPLACE FUNCTION public.add_partitions(parent text, now_at timestamp with time zone)
 RETURNS integer
 LANGUAGE plpgsql
 SET "TimeZone" TO 'UTC'
 SET "DateStyle" TO 'ISO'
AS $function$
#variable_conflict use_variable
declare
  this_month constant timestamptz := date_trunc('month', now_at);
  earlier constant text := parent || '_earlier';
  later constant text := parent || '_later';
  added integer := 0;
  names text[] := '{}';
  each text;
  first timestamptz;
  until timestamptz;
  bound text;
  upper_bound text;
begin
  if parent = 'delivered' then
    -- Moves rows that came while their day had no partition out of the default one. Rows that only a wrong clock can have written stay.
    for each, first in
      select to_char(day, '"delivered_"YYYY_MM_DD'), day from (
        select date_trunc('day', now_at) + n * interval '1 day' as day from generate_series(0, 7) n
        union
        select date_trunc('day', finished_at) from delivered_default
        where finished_at between now_at - interval '30 days' and now_at + interval '7 days'
      ) wanted
      where to_regclass(to_char(day, '"delivered_"YYYY_MM_DD')) is null
      order by day
    loop
      -- Deliveries that settle meanwhile wait here: an insert into the default partition would fail.
      lock table delivered in share row exclusive mode;
      until := first + interval '1 day';
      -- Created separately and attached, which doesn't block readers of other days.
      execute format('create table %I (like delivered including all)', each);
      execute format(
        'with moved as (delete from delivered_default where finished_at >= %L and finished_at < %L returning *)
        insert into %I select * from moved', first, until, each);
      execute format('alter table delivered attach partition %I for values from (%L) to (%L)', each, first, until);
      added := added + 1;
    end loop;
    return added;
  end if;

  bound := (select substring(pg_get_expr(relpartbound, oid) from 'FROM \(''(.*?)''\)') from pg_class where oid = later::regclass);
  until := coalesce((select begins_at from partition_ranges(parent) where name = later), this_month);
  if until > this_month + interval '2 months' then
    return added;
  end if;
  -- Moves the rows after the last month behind the new partitions. No transaction sees the table without them.
  execute partition_locks(parent);
  execute format('alter table %I detach partition %I', parent, later);
  if bound is null then
    names := array[earlier];
  end if;
  while until <= this_month + interval '2 months' loop
    names := names || (parent || to_char(until, '"_"YYYY_MM'));
    until := until + interval '1 month';
  end loop;
  foreach each in array names loop
    -- Each starts at the end of the previous one.
    until := case when each = earlier then this_month else to_date(right(each, 7), 'YYYY_MM') + interval '1 month' end;
    -- The ids of hits start with their time.
    upper_bound := case when parent = 'hits' then 'hit_' || lpad(to_hex((extract(epoch from until) * 1000)::bigint), 12, '0') else until::text end;
    execute format('create table %I (like %I including all)', each, later);
    execute format(
      'with moved as (delete from %I where %s < %L returning *) insert into %I select * from moved',
      later, case parent when 'events' then 'emitted_at' when 'inbox' then 'received_at' else 'id' end,
      upper_bound, each);
    execute format('alter table %I attach partition %I for values from (%s) to (%L)',
      parent, each, coalesce(quote_literal(bound), 'minvalue'), upper_bound);
    bound := upper_bound;
    added := added + 1;
  end loop;
  execute format('alter table %I attach partition %I for values from (%L) to (maxvalue)', parent, later, bound);
  return added;
end
$function$;

CREATE OR REPLACE FUNCTION public.advance_turns(organizations text[], campaign_organizations text[], campaigns text[], served_organizations text[], served_campaigns text[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.attempt_json(number integer, started_at timestamp with time zone, latency_ms integer, status integer, outcome text, response text)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select jsonb_build_object('number', number,
    'startedAt', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'latencyMs', latency_ms, 'status', status, 'outcome', outcome, 'response', response)
$function$;

CREATE OR REPLACE FUNCTION public.begin_calls(worker uuid, endpoints text[], limits integer[], known text[])
 RETURNS TABLE(endpoint_id text, organization_id text, version integer, event_id text, body text, traceparent text, emitted_at timestamp with time zone, read_at double precision)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_sort TO 'off'
AS $function$
#variable_conflict use_column
declare
  since timestamptz;
  until timestamptz;
begin
  -- Calls don't wait for the disk: the next written outcome flushes this record too. Without it, the events are read again.
  perform set_config('synchronous_commit', 'off', true);
  -- This excludes partitions outside the range. No stamp is later than its organization's clock.
  select min(begun_at), greatest(clock_timestamp(), max(last)) into since, until
  from unnest(endpoints) as wanted (id)
  join endpoint_readers reader on reader.endpoint_id = wanted.id
  join organization_clock clock on clock.organization_id = reader.organization_id
  cross join lateral reader_position(wanted.id) position;
  return query
  with found as materialized (
    select reader.endpoint_id, reader.organization_id, version, event.id, body, traceparent, emitted_at
    from unnest(endpoints, limits, known) as wanted (id, max_rows, known)
    join endpoint_readers reader on reader.endpoint_id = wanted.id
    join webhook_endpoints endpoint on endpoint.id = wanted.id
    cross join lateral reader_position(wanted.id) position
    cross join lateral (
      (select id, emitted_at, body, traceparent from events
        where event_types is null and organization_id = reader.organization_id
          and emitted_at >= since and emitted_at <= until and emitted_at >= begun_at
          and (emitted_at, id) > (begun_at, begun_id)
        order by emitted_at, id limit wanted.max_rows)
      union all
      (select each.* from unnest(event_types) as type_of (type)
        cross join lateral (
          select id, emitted_at, body, traceparent from events
          where organization_id = reader.organization_id and type = type_of.type
            and emitted_at >= since and emitted_at <= until and emitted_at >= begun_at
          and (emitted_at, id) > (begun_at, begun_id)
          -- Also ordered by type, so that a rare type is read from events_by_type.
          order by type, emitted_at, id limit wanted.max_rows
        ) each
        order by emitted_at, id limit wanted.max_rows)
      union all
      select id, emitted_at, body, traceparent from events
      where not open <@ string_to_array(wanted.known, ',') and organization_id = reader.organization_id
        and id = any (open) and id <> all (string_to_array(wanted.known, ','))
    ) event
    where owner = worker and enabled
  ), held as materialized (
    select coalesce(jsonb_object_agg(endpoint_id, true), '{}') as endpoints from (
      select endpoint_id from endpoint_readers
      where endpoint_id = any (array(select endpoint_id from found)) and owner = worker
      order by endpoint_id for no key update
    ) locked
  ), begun as materialized (
    select update_positions(array_agg(endpoint_id), array_agg(array_to_string(ids, ',')), array_agg(''::text), array_agg(last::text),
      array_agg(ids[cardinality(ids)]))
    from (
      select endpoint_id, array_agg(id order by emitted_at, id) as ids, max(emitted_at) as last
      from found cross join held where held.endpoints ? endpoint_id group by endpoint_id
    ) each
    having count(*) > 0
  )
  select endpoint_id, organization_id, version, id, body, traceparent, emitted_at, extract(epoch from clock_timestamp())::double precision * 1000
  from found cross join held cross join (select count(*) from begun) written
  where held.endpoints ? endpoint_id;
end
$function$;

CREATE OR REPLACE FUNCTION public.campaign_totals(organization text, campaign text)
 RETURNS TABLE(recipients bigint, published bigint, withdrawn bigint, sent bigint, bounced bigint, answered bigint, queued bigint, deferred bigint, unknown bigint, quarantined bigint, opened bigint, clicked bigint, unsuspected_opened bigint, unsuspected_clicked bigint, accounts bigint, learners bigint, completers bigint, refused_later bigint, complained bigint, unsubscribed bigint)
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(sum(each.recipients), 0), coalesce(sum(each.published), 0), coalesce(sum(each.withdrawn), 0), coalesce(sum(each.sent), 0),
    coalesce(sum(each.bounced), 0), coalesce(sum(each.answered), 0), coalesce(sum(each.queued), 0), coalesce(sum(each.deferred), 0),
    coalesce(sum(each.unknown), 0), coalesce(sum(each.quarantined), 0), coalesce(sum(each.opened), 0), coalesce(sum(each.clicked), 0),
    coalesce(sum(each.unsuspected_opened), 0), coalesce(sum(each.unsuspected_clicked), 0), coalesce(sum(each.accounts), 0), coalesce(sum(each.learners), 0),
    coalesce(sum(each.completers), 0), coalesce(sum(each.refused_later), 0), coalesce(sum(each.complained), 0), coalesce(sum(each.unsubscribed), 0)
  from (
    select recipients, published, withdrawn, sent, bounced, answered, queued, deferred, unknown, quarantined, opened, clicked,
      unsuspected_opened, unsuspected_clicked, accounts, learners, completers, refused_later, complained, unsubscribed
    from campaign_counts where organization_id = organization and campaign_id = campaign
    union all
    select recipients, published, withdrawn, sent, bounced, answered, queued, deferred, unknown, quarantined, opened, clicked,
      unsuspected_opened, unsuspected_clicked, accounts, learners, completers, refused_later, complained, unsubscribed
    from campaign_count_changes where organization_id = organization and campaign_id = campaign
  ) each
$function$;

CREATE OR REPLACE FUNCTION public.chain_audit()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  link audit_chain;
  line text;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit chain', 0));
  select number, hash into link.number, link.previous from audit_chain order by number desc limit 1;
  link.number := coalesce(link.number, 0) + 1;
  if tg_op = 'DELETE' then
    link.kind := 'removed';
    link.command_id := old.id;
    link.removed_at := clock_timestamp();
    link.removed_by := session_user;
    select row_to_json(entry) into line from (
      select link.number, encode(link.previous, 'hex') as previous, link.kind, old.id,
        to_char(link.removed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, link.removed_by as role
    ) entry;
  elsif tg_table_name = 'audit_log' then
    link.kind := 'begun';
    link.command_id := new.id;
    select row_to_json(entry) into line from (
      select link.number, encode(link.previous, 'hex') as previous, link.kind, new.id,
        to_char(new.begun_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, new.role, new.operator, new.os_user, new.host,
        new.command, new.arguments, new.objects, new.organizations, new.submission
    ) entry;
  else
    link.kind := 'ended';
    link.command_id := new.command_id;
    select row_to_json(entry) into line from (
      select link.number, encode(link.previous, 'hex') as previous, link.kind, new.command_id as id,
        to_char(new.ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, new.result, new.code
    ) entry;
  end if;
  link.hash := sha256(convert_to(line, 'UTF8'));
  insert into audit_chain select link.*;
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.choose_failure_group(organization text, endpoint text, groups jsonb, earlier bigint)
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  select case when groups->'overflow' = 'null'
    or exists (select from failure_groups where organization_id = organization and id = groups->'exact'->>'id')
    or earlier < 5 and (
      select count(*) < 100 and 5 > earlier + count(*) filter (
        where outcome = groups->'exact'->>'outcome' and status is not distinct from (groups->'exact'->>'status')::int
          and (closed_at is null or stored > 0))
      from failure_groups where organization_id = organization and endpoint_id = endpoint)
  then groups->'exact' else groups->'overflow' end
$function$;

CREATE OR REPLACE FUNCTION public.count_failures(changes jsonb)
 RETURNS void
 LANGUAGE plpgsql
 STRICT
AS $function$
#variable_conflict use_column
declare
  change jsonb := changes->0;
begin
  -- Usually one cause continues without dead letters. This costs half as much as the statements below.
  if jsonb_array_length(changes) = 1 and change->>'reason' is null then
    update failure_groups set failures = failures + (change->>'failures')::int, last_at = (change->>'at')::timestamptz,
      delivered_then = (change->>'delivered_then')::int
    where id = change->>'group_id' and organization_id = change->>'organization_id' and closed_at is null
      -- An erasure may have cleared the line.
      and first_line is not distinct from change->'failure_group'->>'line';
    if found then return; end if;
  end if;

  insert into failure_groups as held (organization_id, id, endpoint_id, status, outcome, first_line, failures, opened_at, last_at, closed_at,
    calls_before, delivered_before, delivered_then, rejected, exhausted, poison, open, stored)
  -- A change without a description of its group can't create one.
  select organization_id, group_id, coalesce(cause->>'endpointId', ''), (cause->>'status')::int, coalesce(cause->>'outcome', ''), cause->>'line',
    failures, at, at, case when failures = 0 then at end, calls_before, delivered_before, delivered_then, rejected, exhausted, poison, open, stored
  from (
    select organization_id, group_id, (array_agg(failure_group) filter (where failure_group is not null))[1] as cause, max(at) as at,
      coalesce(sum(failures), 0) as failures, coalesce(max(calls_before), 0) as calls_before,
      coalesce(max(delivered_before), 0) as delivered_before, coalesce(max(delivered_then), 0) as delivered_then,
      coalesce(sum(opened) filter (where reason = 'rejected'), 0) as rejected,
      coalesce(sum(opened) filter (where reason = 'exhausted'), 0) as exhausted,
      coalesce(sum(opened) filter (where reason = 'poison'), 0) as poison, coalesce(sum(opened), 0) as open,
      coalesce(sum(stored), 0) as stored
    from jsonb_to_recordset(changes) as change (
      organization_id text, group_id text, at timestamptz, failures integer, calls_before integer, delivered_before integer,
      delivered_then integer, reason text, opened integer, stored integer, failure_group jsonb)
    group by organization_id, group_id
  ) change
  order by organization_id, group_id
  on conflict (id, organization_id) do update set
    first_line = coalesce(excluded.first_line, held.first_line),
    failures = case when excluded.failures = 0 or held.closed_at is null then held.failures else 0 end + excluded.failures,
    last_at = case when excluded.failures = 0 then held.last_at else excluded.last_at end,
    closed_at = case when excluded.failures = 0 then held.closed_at end,
    delivered_then = case when excluded.failures = 0 then held.delivered_then else excluded.delivered_then end,
    opened_at = case when excluded.failures > 0 and held.closed_at is not null then excluded.opened_at else held.opened_at end,
    calls_before = case when excluded.failures > 0 and held.closed_at is not null then excluded.calls_before else held.calls_before end,
    delivered_before = case when excluded.failures > 0 and held.closed_at is not null
      then excluded.delivered_before else held.delivered_before end,
    rejected = held.rejected + excluded.rejected, exhausted = held.exhausted + excluded.exhausted, poison = held.poison + excluded.poison,
    open = held.open + excluded.open, stored = held.stored + excluded.stored;

  if jsonb_path_exists(changes, '$[*] ? (@.stored < 0)') then
    update failure_groups set first_line = null
    from jsonb_to_recordset(changes) as change (organization_id text, group_id text)
    where failure_groups.organization_id = change.organization_id and id = change.group_id and failure_groups.stored <= 0;
    delete from failure_groups using jsonb_to_recordset(changes) as change (organization_id text, group_id text)
    where failure_groups.organization_id = change.organization_id and failure_groups.id = change.group_id
      and failure_groups.stored <= 0 and closed_at is not null and muted_at is null;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.current_identity()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  here text;
begin
  if pg_is_in_recovery() then
    return null;
  end if;
  here := (select system_identifier from pg_control_system()) || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
  -- Until it is recorded, all sessions derive the same mark: the position of the promotion, and the start of the server.
  return here || '/' || coalesce(
    (select mark from timelines where timeline = here),
    concat(replace(pg_last_wal_replay_lsn()::text, '/', '-'), '@', extract(epoch from pg_postmaster_start_time()))
  );
exception when insufficient_privilege or feature_not_supported or undefined_function or undefined_table then
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.dead_letters_after(after_at timestamp with time zone, after_id text, before timestamp with time zone, max_rows integer, of_group text DEFAULT NULL::text)
 RETURNS TABLE(organization_id text, id text, endpoint_id text, event_id text, reason text, finished_at timestamp with time zone, group_id text)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_bitmapscan TO 'off'
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
#variable_conflict use_column
begin
  if of_group is null then
    return query
    select organization_id, id, endpoint_id, event_id, reason, finished_at, group_id from dead_letters
    where replayed_as is null and (finished_at, id) > (after_at, after_id) and finished_at < before
    order by finished_at, id limit max_rows;
  else
    return query
    select organization_id, id, endpoint_id, event_id, reason, finished_at, group_id from dead_letters
    where replayed_as is null and group_id = of_group and (finished_at, id) > (after_at, after_id) and finished_at < before
    order by finished_at, id limit max_rows;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.deliveries_in_log(endpoint text, types text[], after_at timestamp with time zone, after_id text, lowest text, highest text, before text, max_rows integer)
 RETURNS TABLE(id text, event_id text, emitted_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.delivery_id(event_id text, endpoint_id text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  -- PostgreSQL inlines a single expression. A call would cost thirty times as much.
  select 'dlv_' || substr(event_id, 5, 12) || '7'
    || overlay(substr(encode(sha256((event_id || endpoint_id)::bytea), 'hex'), 1, 18) placing 'b' from 4 for 0)
$function$;

CREATE OR REPLACE FUNCTION public.disable_endpoint(endpoint text, called integer, why text)
 RETURNS text
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  organization text;
  command text;
begin
  update webhook_endpoints set enabled = false, disabled_at = clock_timestamp(), disabled_reason = why
  where id = endpoint and version = called and enabled
  returning organization_id into organization;
  if not found then
    return null;
  end if;
  insert into audit_log (os_user, host, command, arguments, objects, organizations)
  values ('the service', coalesce(host(inet_client_addr()), 'local'), 'endpoints disable',
    json_build_object('endpoint', endpoint, 'reason', why), array[endpoint], array[organization])
  returning id into command;
  insert into audit_results (command_id, result) values (command, 'succeeded');
  return endpoint;
end
$function$;

CREATE OR REPLACE FUNCTION public.end_removed(max_rows integer)
 RETURNS integer
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  alive constant uuid[] := array(
    select token from delivery_workers
    where alive_until > clock_timestamp() and alive_until < clock_timestamp() + interval '1 minute');
  removed constant text[] := array(
    select id from webhook_endpoints where removed_at is not null);
  ended integer;
  deaths jsonb;
begin
  -- Possible calls of a lost worker become rows that it still owns.
  perform hand_over(owner, array[endpoint_id], array[array_to_string(open, ',')], '{}')
  from unnest(removed) as removed (id) join endpoint_readers on endpoint_id = removed.id
  cross join lateral reader_position(endpoint_id) position
  where owner is not null and owner <> all (alive);

  with lost as materialized (
    select ctid as row_ctid, owned_at from deliveries
    where owner is not null and owner <> all (alive) and endpoint_id = any (removed)
    limit max_rows for update skip locked
  ), released as (
    update deliveries set owner = null, owned_at = null, losses = losses + 1 from lost where deliveries.ctid = row_ctid
    returning organization_id, id, attempts, lost.owned_at
  )
  insert into delivery_attempts (organization_id, delivery_id, number, started_at, outcome)
  select organization_id, id, attempts + 1, owned_at, 'outcome_unknown' from released;

  with waiting as materialized (
    select ctid as row_ctid from deliveries where owner is null and endpoint_id = any (removed)
    limit max_rows for update skip locked
  ), cancelled as (
    delete from deliveries where ctid = any (array(select row_ctid from waiting)) returning *
  ), made as (
    delete from delivery_attempts made using cancelled
    where made.organization_id = cancelled.organization_id and made.delivery_id = cancelled.id
    returning made.*
  )
  insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at, cancelled)
  select organization_id, id, endpoint_id, event_id, coalesce((
      select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
      from made where made.organization_id = cancelled.organization_id and made.delivery_id = cancelled.id
    ), '[]'), created_at, true
  from cancelled;
  get diagnostics ended = row_count;

  update replay_jobs set cancelled_at = clock_timestamp()
  where finished_at is null and cancelled_at is null and endpoint_id = any (removed);

  with open as materialized (
    select ctid as row_ctid from dead_letters
    where replayed_as is null and group_id in (select id from failure_groups where open > 0 and endpoint_id = any (removed))
    order by organization_id, id limit max_rows for update skip locked
  ), closed as (
    update dead_letters set replayed_as = '' where ctid = any (array(select row_ctid from open)) returning *
  )
  select jsonb_agg(jsonb_build_object(
    'organization_id', organization_id, 'group_id', group_id, 'at', finished_at, 'reason', reason, 'opened', -1, 'stored', 0, 'failures', 0))
  into deaths from closed;
  perform count_failures(deaths);

  with lasting as materialized (
    select id from failure_groups where closed_at is null and endpoint_id = any (removed)
    order by organization_id, id for update skip locked
  )
  update failure_groups set closed_at = clock_timestamp() where id in (select id from lasting);
  return ended + coalesce(jsonb_array_length(deaths), 0);
end
$function$;

CREATE OR REPLACE FUNCTION public.events_after(organization text, types text[], after_at timestamp with time zone, after_id text, before timestamp with time zone, max_rows integer)
 RETURNS TABLE(id text, type text, emitted_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.feed_page(organization text, types text[], is_filtered boolean, after_at timestamp with time zone, after_id text, max_rows integer)
 RETURNS TABLE(id text, emitted_at timestamp with time zone, campaign_id text, recipient_id text, body text)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
#variable_conflict use_column
begin
  -- Also compares the time, because a row comparison doesn't prune partitions.
  if is_filtered then
    return query
    select each.* from unnest(types) as wanted (type)
    cross join lateral (
      select id, emitted_at, campaign_id, recipient_id, body from events
      where organization_id = organization and type = wanted.type and emitted_at >= after_at
        and (emitted_at, id) > (after_at, after_id)
      order by type, emitted_at, id limit max_rows
    ) each
    order by emitted_at, id limit max_rows;
  else
    return query
    select id, emitted_at, campaign_id, recipient_id, body from events
    where organization_id = organization and type = any (types) and emitted_at >= after_at
      and (emitted_at, id) > (after_at, after_id)
    order by emitted_at, id limit max_rows;
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.first_due()
 RETURNS TABLE(endpoint_id text, replay boolean, due_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
  with recursive first_of as (
    (select endpoint_id, replay, due_at from deliveries where owner is null order by endpoint_id, replay, due_at limit 1)
    union all
    select next.* from first_of
    cross join lateral (
      select endpoint_id, replay, due_at from deliveries
      where owner is null and (endpoint_id, replay) > (first_of.endpoint_id, first_of.replay)
      order by endpoint_id, replay, due_at limit 1
    ) next
  )
  select * from first_of;
end
$function$;

CREATE OR REPLACE FUNCTION public.hand_over(worker uuid, endpoints text[], calling text[], unbegun text[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  held text[];
begin
  select coalesce(array_agg(endpoint_id), '{}') into held from (
    select endpoint_id from endpoint_readers where endpoint_id = any (endpoints) and owner = worker order by endpoint_id for update
  ) locked;
  with reader as materialized (
    select endpoint_id, organization_id, open, string_to_array(given.calling, ',') as calling
    from unnest(endpoints, calling) as given (endpoint_id, calling) join endpoint_readers using (endpoint_id)
    cross join lateral (select open from reader_position(endpoint_id)) position
    where endpoint_id = any (held)
  ), kept as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at)
    select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(),
      case when event_id = any (calling) then worker end, case when event_id = any (calling) then clock_timestamp() end
    from reader cross join unnest(open) as event_id
    -- A change of its event types has stored the recently read events.
    on conflict do nothing
  ), given_back as (
    update deliveries set owner = case when id <> all (unbegun) then worker end,
      owned_at = case when id <> all (unbegun) then clock_timestamp() end
    where owner = worker and endpoint_id = any (held)
  )
  update endpoint_readers set owner = null where endpoint_id = any (held);
  perform update_positions(array_agg(id), array_agg(''::text), array_agg(array_to_string(open, ',')), array_agg(''::text), array_agg(''::text))
  from unnest(held) as held (id) cross join lateral reader_position(id) position where open <> '{}';
end
$function$;

CREATE OR REPLACE FUNCTION public.is_doubtful(at timestamp with time zone)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce(at <@ (select faults from clock_watch), false)
$function$;

CREATE OR REPLACE FUNCTION public.keep_inbox_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into inbox_keys values (new.organization_id, new.event_id, new.received_at) on conflict do nothing;
  if not found then
    return null;
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.keep_partitions(parent text, keep integer DEFAULT NULL::integer)
 RETURNS TABLE(added integer, dropped integer, reason text)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET lock_timeout TO '200ms'
 SET "TimeZone" TO 'UTC'
 SET "DateStyle" TO 'ISO'
AS $function$
#variable_conflict use_variable
declare
  now_at constant timestamptz := plausible_now();
  this_month constant timestamptz := date_trunc('month', now_at);
  max_keep constant integer := case when parent in ('delivered', 'hits') then 3650 else 1200 end;
  earlier constant text := parent || '_earlier';
  later constant text := parent || '_later';
  limits retention_limits;
  names text[] := '{}';
  each text;
  bound text;
  is_used boolean;
begin
  added := 0;
  dropped := 0;
  if parent <> all (array['delivered', 'events', 'inbox', 'hits']) then
    raise exception '% has no partitions', parent;
  elsif keep not between 1 and max_keep then
    raise exception 'no % days or months of % can be kept, but from 1 to %', keep, parent, max_keep;
  end if;
  -- One lock for all monthly tables, because each locks the organizations as its foreign key.
  if now_at is null or not pg_try_advisory_xact_lock(hashtextextended(case when parent = 'delivered' then parent else 'partitions' end, 0)) then
    return next;
    return;
  elsif keep is null then
    added := add_partitions(parent, now_at);
    return next;
    return;
  end if;

  select * into strict limits from retention_limits where retention_limits.parent = keep_partitions.parent;
  keep := greatest(keep, limits.min_keep);
  if limits.dropped_on = now_at::date then
    null;
  elsif parent = 'delivered' then
    each := (
      select name from partition_ranges(parent)
      where ends_at <= date_trunc('day', now_at - keep * interval '1 day')
        and not (select faults from clock_watch) && tstzrange(begins_at, ends_at)
      order by ends_at limit 1);
    if each is not null then
      execute format('drop table %I', each);
      dropped := 1;
    end if;
  else
    execute format('select exists (select from %s)', coalesce(to_regclass(earlier), to_regclass(later))) into is_used;
    -- The first partition is dropped together with the next month, or by itself if it has rows.
    select array_agg(name order by ends_at) into names from (
      select name, ends_at from partition_ranges(parent)
      where ends_at <= case when parent = 'hits' then this_month else this_month - keep * interval '1 month' end
      order by ends_at limit case when is_used then 1 else 2 end
    ) over;
    if cardinality(names) > 1 or cardinality(names) = 1 and is_used then
      bound := (
        select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.*?)''\)') from pg_class
        where oid = names[cardinality(names)]::regclass);
      -- First without blocking readers and writers, because it may take a moment.
      reason := partition_needed(parent, bound, now_at - keep * interval '1 day');
      if reason is null then
        execute partition_locks(parent);
        reason := partition_needed(parent, bound, now_at - keep * interval '1 day');
      end if;
      if reason is null then
        foreach each in array names loop
          execute format('drop table %I', each);
        end loop;
        dropped := cardinality(names);
        -- Earlier rows still have a partition, even with a wrong clock.
        execute format('create table %I (like %I including all)', earlier, later);
        execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', parent, earlier, bound);
      elsif parent = 'hits' then
        -- Hits that aren't old enough need no report.
        reason := null;
      end if;
    end if;
  end if;
  if dropped > 0 then
    update retention_limits set dropped_on = now_at::date where retention_limits.parent = keep_partitions.parent;
  end if;
  return next;
end
$function$;

CREATE OR REPLACE FUNCTION public.latency_histogram(latencies integer[], counts integer[] DEFAULT NULL::integer[])
 RETURNS integer[]
 LANGUAGE plpgsql
 IMMUTABLE
AS $function$
declare
  latency integer;
  bucket integer;
begin
  counts := coalesce(counts, array_fill(0, '{20}'));
  foreach latency in array coalesce(latencies, '{}') loop
    continue when latency is null;
    bucket := 1 + width_bucket(latency, '{2,5,10,20,35,50,75,100,150,200,300,500,750,1000,1500,2000,3000,5000,10000}'::int[]);
    counts[bucket] := counts[bucket] + 1;
  end loop;
  return counts;
end
$function$;

CREATE OR REPLACE FUNCTION public.lease_messages(decision jsonb, lease_seconds double precision)
 RETURNS TABLE(recipient_id text, lease_token uuid)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.lift_unsubscriptions(max_rows integer)
 RETURNS integer
 LANGUAGE sql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
  with chosen as materialized (
    select organization_id, recipient_id from unsubscriptions
    where revoked_at is not null and lifted_at is null
    order by revoked_at limit max_rows for update skip locked
  ), lifted as (
    -- Clears the request for the organization, so that the next one may be for the program only.
    update unsubscriptions unsubscription set lifted_at = clock_timestamp(), suppressed_at = coalesce(suppressed_at, clock_timestamp()),
      from_organization = false
    from chosen where unsubscription.organization_id = chosen.organization_id and unsubscription.recipient_id = chosen.recipient_id
    returning unsubscription.organization_id, unsubscription.recipient_id
  ), key as materialized (
    select lifted.organization_id, recipient_id, program_id, each.kind, each.value
    from lifted join recipients on recipients.organization_id = lifted.organization_id and recipients.id = recipient_id
    cross join lateral (values ('npi', npi), ('email', lower(email))) as each (kind, value)
  ), standing as materialized (
    -- The remaining requests by links of other messages to the same clinician.
    select key.organization_id, key.kind, key.value,
      unnest(case when from_organization then array['', recipient.program_id] else array[recipient.program_id] end) as program_id
    from key
    join unsubscriptions other on other.organization_id = key.organization_id and revoked_at is null
    join recipients recipient on recipient.organization_id = other.organization_id and recipient.id = other.recipient_id
      and key.value = case key.kind when 'npi' then recipient.npi else lower(recipient.email) end
  ), removed as (
    delete from suppressions suppression using key
    where suppression.organization_id = key.organization_id and suppression.kind = key.kind and suppression.value = key.value
      and suppression.program_id in ('', key.program_id) and by_unsubscription
      and (key.organization_id, key.kind, key.value, suppression.program_id) not in (
        select organization_id, kind, value, program_id from standing)
  )
  select count(*)::integer from lifted;
$function$;

CREATE OR REPLACE FUNCTION public.lock_due_messages(max_rows integer, scan_limit integer, in_all_minute integer, per_domain_minute integer, max_per_campaign integer, held_by_campaign jsonb)
 RETURNS json
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.mail_slots(next_at timestamp with time zone, per_minute integer, now_at timestamp with time zone)
 RETURNS integer
 LANGUAGE sql
 STABLE
RETURN CASE WHEN (per_minute IS NULL) THEN 2147483647 ELSE GREATEST(0, (1 + (floor(((EXTRACT(epoch FROM (now_at - GREATEST(COALESCE(next_at, '-infinity'::timestamp with time zone), (now_at - '00:00:01'::interval)))) * (per_minute)::numeric) / (60)::numeric)))::integer)) END;

CREATE OR REPLACE FUNCTION public.make_id(prefix text)
 RETURNS text
 LANGUAGE sql
AS $function$
  select prefix || '_' || encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
        placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
        from 1 for 6),
      52, 1), 53, 1),
    'hex')
$function$;

CREATE OR REPLACE FUNCTION public.note_timeline()
 RETURNS text
 LANGUAGE plpgsql
AS $function$
declare
  identity constant text := current_identity();
  here constant text := substring(identity from '^[^/]+/[^/]+');
begin
  if not exists (select from timelines where timeline = here) and pg_try_advisory_xact_lock(hashtextextended('timelines', 0)) then
    insert into timelines select here, split_part(identity, '/', 3) where here is not null on conflict do nothing;
  end if;
  return identity;
end
$function$;

CREATE OR REPLACE FUNCTION public.partition_locks(parent text)
 RETURNS text
 LANGUAGE sql
 STABLE
AS $function$
  select string_agg(format('lock table %s in access exclusive mode', locked), '; ' order by place, locked::text) from (
    select to_regclass(parent) as locked, 1 as place
    union select confrelid::regclass, 2 from pg_constraint where conrelid = to_regclass(parent) and contype = 'f'
  ) tables
$function$;

CREATE OR REPLACE FUNCTION public.partition_needed(parent text, below text, hits_before timestamp with time zone)
 RETURNS text
 LANGUAGE plpgsql
 STABLE
 SET enable_hashjoin TO 'off'
 SET enable_mergejoin TO 'off'
 SET enable_seqscan TO 'off'
AS $function$
begin
  case parent
    when 'events' then
      return (
        with older as materialized (select below::timestamptz as than)
        select reason from (
          (select 'endpoint ' || endpoint.id || ' has not read them all' as reason
            from older cross join webhook_endpoints endpoint cross join lateral reader_position(endpoint.id) position
            where enabled and begun_at < than and exists (
              select from events where organization_id = endpoint.organization_id and emitted_at < than
                and emitted_at >= begun_at and (emitted_at, events.id) > (begun_at, begun_id)
                and (event_types is null or type = any (event_types))) limit 1)
          union all
          (select 'endpoint ' || reader.endpoint_id || ' has not settled them all'
            from older cross join endpoint_readers reader cross join lateral reader_position(reader.endpoint_id) position
            where exists (
              select from events where organization_id = reader.organization_id and id = any (open) and emitted_at < than) limit 1)
          union all
          (select 'delivery ' || delivery.id || ' waits'
            from older cross join deliveries delivery where exists (
              select from events
              where organization_id = delivery.organization_id and id = delivery.event_id and emitted_at < than) limit 1)
          union all
          (select 'dead letter ' || dead.id || ' is neither replayed nor removed'
            from older cross join dead_letters dead where replayed_as is null and exists (
              select from events where organization_id = dead.organization_id and id = dead.event_id and emitted_at < than) limit 1)
          union all
          (select 'replay ' || id || ' reads them' from older cross join replay_jobs
            where kind = 'log' and finished_at is null and cancelled_at is null and after_at < than limit 1)
          union all
          (select 'rows have times of a wrong clock since ' || date_trunc('second', lower(fault))
            from older cross join clock_watch cross join unnest(faults) fault where exists (
              select from events where emitted_at between lower(fault) and upper(fault) and emitted_at < than) limit 1)
        ) needed limit 1
      );
    when 'inbox' then
      return (
        select 'event ' || event_id || ' of ' || organization_id || ' waits to be applied' from inbox
        where received_at < below::timestamptz and applied_at is null and quarantined_at is null
        union all
        select 'rows have times of a wrong clock since ' || date_trunc('second', lower(fault))
        from clock_watch cross join unnest(faults) fault where exists (
          select from inbox where received_at between lower(fault) and upper(fault) and received_at < below::timestamptz)
        limit 1
      );
    when 'hits' then
      return (
        select 'hit ' || id || ' waits or is not old enough' from hits
        where id < below and (judged_at is null or judged_at >= hits_before or is_doubtful(judged_at)) limit 1
      );
  end case;
end
$function$;

CREATE OR REPLACE FUNCTION public.partition_ranges(parent text)
 RETURNS TABLE(name text, begins_at timestamp with time zone, ends_at timestamp with time zone)
 LANGUAGE sql
 STABLE
 SET "TimeZone" TO 'UTC'
 SET "DateStyle" TO 'ISO'
AS $function$
  select relname::text, first, until
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  cross join lateral (
    select case when parent = 'hits' then to_timestamp(('x' || substr(lower, 5))::bit(48)::bigint / 1000.0) else lower::timestamptz end as first,
      case when parent = 'hits' then to_timestamp(('x' || substr(upper, 5))::bit(48)::bigint / 1000.0) else upper::timestamptz end as until
    from (
      select substring(pg_get_expr(relpartbound, pg_class.oid) from 'FROM \(''(.*?)''\)') as lower,
        substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.*?)''\)') as upper
    ) bound
  ) as range
  where inhparent = to_regclass(parent)
$function$;

CREATE OR REPLACE FUNCTION public.plausible_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
AS $function$
  select now_at from clock_watch cross join clock_timestamp() as now_at
  where now_at between believed_at - interval '1 hour' and believed_at + interval '1 hour'
$function$;

CREATE OR REPLACE FUNCTION public.quota_reached(organization text, program text)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  select coalesce((
    select completer_reached_at is not null from digest_funnel
    where organization_id = organization and program_id = program order by date desc limit 1
  ), false)
$function$;

CREATE OR REPLACE FUNCTION public.raise_endpoint_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  update webhook_endpoints set version = version + 1
  where organization_id = new.organization_id
    and (id = new.endpoint_id or new.endpoint_id is null and shared_secrets_until > clock_timestamp());
  return null;
end
$function$;

CREATE OR REPLACE FUNCTION public.raise_version()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.version := old.version + 1;
  if new.url <> old.url then
    new.address_since := clock_timestamp();
  end if;
  return new;
end
$function$;

CREATE OR REPLACE FUNCTION public.ramp_day(day_number integer, counted_on date, sent integer, today date)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
RETURN CASE WHEN ((counted_on >= today) OR (sent = 0)) THEN day_number ELSE (day_number + 1) END;

CREATE OR REPLACE FUNCTION public.ramp_slots(daily integer[], day_number integer, counted_on date, sent integer, today date)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
RETURN GREATEST(0, COALESCE(((daily)[ramp_day(day_number, counted_on, sent, today)] - CASE WHEN (counted_on >= today) THEN sent ELSE 0 END), 2147483647));

CREATE OR REPLACE FUNCTION public.reader_position(endpoint text)
 RETURNS TABLE(begun_at timestamp with time zone, begun_id text, open text[], intended_at timestamp with time zone)
 LANGUAGE sql
 STABLE
AS $function$
  select begun_at, begun_id, open, intended_at from reader_positions where endpoint_id = endpoint order by generation desc limit 1
$function$;

CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only', tg_table_name;
end
$function$;

CREATE OR REPLACE FUNCTION public.restore_fault()
 RETURNS text
 LANGUAGE plpgsql
 STABLE
AS $function$
begin
  if exists (select from restores where finished_at is null) then
    return 'restoring';
  end if;
  return (select 'moved' from clock_watch where identity <> current_identity());
end
$function$;

CREATE OR REPLACE FUNCTION public.same_clinicians(organization text, campaign text, npis text[], emails text[])
 RETURNS TABLE(npi text, email text)
 LANGUAGE sql
 STABLE
 SET enable_seqscan TO 'off'
 SET enable_sort TO 'off'
AS $function$
  select twin.npi, twin.email
  from unnest(npis) as given (npi)
  cross join lateral (
    select key.npi, key.email from recipient_keys key
    where organization_id = organization and campaign_id = campaign and key.npi >= given.npi
    order by key.npi limit 1) twin
  where twin.npi = given.npi
  union
  select twin.npi, twin.email
  from unnest(emails) as given (email)
  cross join lateral (
    select key.npi, key.email from recipient_keys key
    where organization_id = organization and campaign_id = campaign and key.email >= given.email
    order by key.email limit 1) twin
  where twin.email = given.email
$function$;

CREATE OR REPLACE FUNCTION public.sender_of(organization text, program text)
 RETURNS TABLE(sender_id text, slots integer)
 LANGUAGE sql
 STABLE
AS $function$
  select id, ramp_slots(ramp, ramp_day_number, ramp_counted_on, ramp_sent, date(clock_timestamp() at time zone 'UTC')) from senders
  where organization_id = organization and (program_id is null or program_id = program) and live_since is not null
  order by program_id nulls last limit 1
$function$;

CREATE OR REPLACE FUNCTION public.shown_url(url text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  select regexp_replace(regexp_replace(url, '\?.*$', '?…'), '(?<=[^/:]/)[^/?]{20,}', '…', 'g')
$function$;

CREATE OR REPLACE FUNCTION public.take_due(worker uuid, endpoints text[], max_rows integer[], max_replays integer[], alone_from integer)
 RETURNS TABLE(endpoint_id text, organization_id text, version integer, id text, event_id text, body text, traceparent text, attempt integer, replay boolean, losses integer, taken_at double precision)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  now_at constant timestamptz := clock_timestamp();
begin
  return query
  with due as materialized (
    select found.*
    from unnest(endpoints, max_rows, max_replays) as wanted (id, max_rows, max_replays)
    join endpoint_readers reader on reader.endpoint_id = wanted.id and reader.owner = worker
    join webhook_endpoints endpoint on endpoint.id = wanted.id and enabled
    cross join lateral (
      select *, row_number() over (order by class, due_at, id) as endpoint_rank, min(class) over () as first_class
      from (
        (select ctid as row_ctid, id, due_at, case when losses >= alone_from then 0 else 1 end as class from deliveries
          where endpoint_id = wanted.id and owner is null and losses > 0 and due_at <= now_at
          order by due_at, id limit wanted.max_rows)
        union all
        (select ctid, id, due_at, 2 from deliveries
          where endpoint_id = wanted.id and owner is null and not replay and losses = 0 and due_at <= now_at
          order by due_at, id limit wanted.max_rows)
        union all
        (select ctid, id, due_at, 3 from deliveries
          where endpoint_id = wanted.id and owner is null and replay and losses = 0 and due_at <= now_at
          order by due_at, id limit wanted.max_replays)
      ) waiting
    ) found
    where endpoint_rank <= case when first_class = 0 then 1 else wanted.max_rows end
  ), taken as (
    update deliveries set owner = worker, owned_at = now_at
    from due where deliveries.ctid = row_ctid and deliveries.owner is null
    returning deliveries.*, class, due.due_at as fell_due_at
  )
  select taken.endpoint_id, taken.organization_id, endpoint.version, taken.id, taken.event_id, event.body, event.traceparent,
    taken.attempts + 1, taken.replay, taken.losses, extract(epoch from now_at)::double precision * 1000
  from taken
  join webhook_endpoints endpoint on endpoint.id = taken.endpoint_id
  -- Single look-ups through the primary key of each partition.
  cross join lateral (
    select body, traceparent from events where organization_id = taken.organization_id and id = taken.event_id offset 0
  ) event
  order by class, fell_due_at, taken.id;
end
$function$;

CREATE OR REPLACE FUNCTION public.take_endpoints(worker uuid, nobody uuid, alive uuid[], max_rows integer)
 RETURNS TABLE(taken integer, taken_over integer)
 LANGUAGE plpgsql
AS $function$
#variable_conflict use_column
declare
  free text[];
begin
  -- The next statement reads the positions, so that it sees all writes before these rows were locked.
  with locked as materialized (
    select endpoint_id from endpoint_readers reader
    join webhook_endpoints endpoint on endpoint.id = reader.endpoint_id
    where enabled and (owner is null or owner <> all (alive))
    order by owner is null limit max_rows for update of reader skip locked
  )
  select coalesce(array_agg(endpoint_id), '{}') into free from locked;
  return query
  with reader as materialized (
    select endpoint_id, organization_id, owner, open, intended_at
    from unnest(free) as free (endpoint_id) join endpoint_readers using (endpoint_id)
    cross join lateral (select open, intended_at from reader_position(endpoint_id)) position
  ), kept as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, owner, owned_at)
    select organization_id, delivery_id(event_id, endpoint_id), endpoint_id, event_id, clock_timestamp(), nobody, intended_at
    from reader cross join unnest(open) as event_id
    -- A change of its event types has stored the recently read events.
    on conflict do nothing
  ), left_behind as (
    -- Also if its worker is alive again: the worker doesn't know the row, which was an event of the log.
    update deliveries set owner = nobody
    from reader where deliveries.endpoint_id = reader.endpoint_id and deliveries.owner = reader.owner
  ), owned as (
    update endpoint_readers set owner = worker from reader where endpoint_readers.endpoint_id = reader.endpoint_id
    returning reader.owner as before
  )
  select count(*)::integer, count(before)::integer from owned;
  perform update_positions(array_agg(id), array_agg(''::text), array_agg(array_to_string(open, ',')), array_agg(''::text), array_agg(''::text))
  from unnest(free) as free (id) cross join lateral reader_position(id) position where open <> '{}';
end
$function$;

CREATE OR REPLACE FUNCTION public.update_positions(endpoints text[], opened text[], closed text[], positions text[], position_ids text[])
 RETURNS void
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
begin
  with latest as materialized (
    select row_ctid, organization_id, endpoint_id, generation, updates, place.*,
      case when opened = ''
        then array(select event from unnest(open) as event where event <> all ((select string_to_array(closed, ','))::text[]))
        else open || array(select event from unnest(string_to_array(opened, ',')) as event where event <> all (open)) end as open,
      case when opened = '' then intended_at else clock_timestamp() end as intended_at
    from unnest(endpoints, opened, closed, positions, position_ids) as change (id, opened, closed, position_at, position_id)
    cross join lateral (
      select ctid as row_ctid, * from reader_positions where endpoint_id = change.id order by generation desc limit 1
    ) position
    cross join lateral (
      select at, id from (values (begun_at, begun_id), (nullif(position_at, '')::timestamptz, position_id)) as either (at, id)
      where at is not null order by at desc, id collate "C" desc limit 1
    ) place
  ), updated as (
    update reader_positions set begun_at = latest.at, begun_id = latest.id, open = latest.open, intended_at = latest.intended_at,
      updates = latest.updates + 1
    from latest where reader_positions.ctid = row_ctid and latest.updates < 32
  ), replaced as (
    delete from reader_positions using latest where reader_positions.ctid = row_ctid and latest.updates >= 32
  )
  insert into reader_positions (organization_id, endpoint_id, generation, begun_at, begun_id, open, intended_at)
  select organization_id, endpoint_id, generation + 1, at, id, open, intended_at from latest where updates >= 32;
end
$function$;

CREATE OR REPLACE FUNCTION public.waiting_after(endpoint text, after_at timestamp with time zone, after_id text, before timestamp with time zone, max_rows integer)
 RETURNS TABLE(id text, event_id text, group_id text, due_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
 SET enable_bitmapscan TO 'off'
AS $function$
#variable_conflict use_column
begin
  return query
  select each.* from unnest(array[false, true]) as lane_of (is_replay)
  cross join lateral (
    select id, event_id, group_id, due_at from deliveries
    where endpoint_id = endpoint and replay = is_replay and owner is null and (due_at, id) > (after_at, after_id) and due_at < before
    order by due_at, id limit max_rows
  ) each
  order by due_at, id limit max_rows;
end
$function$;

CREATE OR REPLACE FUNCTION public.watch_clock(own_at timestamp with time zone, reckoned_at timestamp with time zone, OUT now_at timestamp with time zone, OUT doubt text)
 RETURNS record
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "TimeZone" TO 'UTC'
 SET "DateStyle" TO 'ISO'
AS $function$
declare
  tolerance constant interval := '1 hour';
  watch clock_watch;
  is_near boolean;
  believed_from timestamptz;
  ahead_from timestamptz;
begin
  select * into strict watch from clock_watch for update;
  now_at := clock_timestamp();
  is_near := now_at between watch.believed_at - tolerance and watch.believed_at + tolerance;
  if not is_near then
    if now_at between watch.steady_to - tolerance and watch.steady_to + tolerance then
      watch.steady_to := now_at;
    else
      watch.steady_from := now_at;
      watch.steady_to := now_at;
    end if;
    believed_from := watch.steady_from + least(
      greatest(watch.steady_from - watch.believed_at, watch.believed_at - watch.steady_from) / 24, interval '1 day');
  end if;
  doubt := case
    when own_at not between now_at - tolerance and now_at + tolerance
      then format('the database''s clock says %s, and the worker''s %s', date_trunc('second', now_at), date_trunc('second', own_at))
    when reckoned_at not between now_at - tolerance and now_at + tolerance
      then format('the database''s clock says %s, and by its earlier readings it is %s',
        date_trunc('second', now_at), date_trunc('second', reckoned_at))
    when now_at < believed_from
      then format('the database''s clock says %s, and it was last right at %s; if it runs steadily, it is trusted from %s',
        date_trunc('second', now_at), date_trunc('second', watch.believed_at), date_trunc('second', believed_from))
  end;
  if doubt is null then
    -- Stamps since the last trusted time, or since the clock has been steady, are correct after all.
    if not is_near then
      watch.faults := coalesce((select range_agg(fault) from unnest(watch.faults) fault
        where lower(fault) > now_at or upper(fault) < least(watch.steady_from, watch.believed_at)), '{}');
    end if;
    ahead_from := (select min(lower(fault)) from unnest(watch.faults) fault where watch.steady_from is not null and lower(fault) > now_at);
    if ahead_from is not null then
      -- A lease gets ten more minutes, so that its worker can still settle it. A ramp continues with the counted day.
      update messages set due_at = case when due_at >= ahead_from and due_at < 'infinity' then now_at else due_at end,
        lease_until = case when lease_until >= ahead_from then now_at + interval '10 minutes' else lease_until end
      where (due_at >= ahead_from and due_at < 'infinity') or lease_until >= ahead_from;
      update deliveries set due_at = now_at where due_at >= ahead_from;
      update endpoint_readers set probe_at = now_at where probe_at >= ahead_from;
      update campaign_domains set paused_until = now_at where paused_until >= ahead_from;
      update senders set ramp_counted_on = now_at::date where ramp_counted_on >= ahead_from::date and ramp_counted_on > now_at::date;
      delete from send_rates where next_at >= ahead_from;
    end if;
    update clock_watch set believed_at = now_at, steady_from = null, steady_to = null, faults = watch.faults;
    return;
  end if;
  if not is_near then
    watch.faults := watch.faults + tstzmultirange(tstzrange(now_at - tolerance, now_at + tolerance, '[]'));
  end if;
  update clock_watch set steady_from = watch.steady_from, steady_to = watch.steady_to, doubt = watch_clock.doubt, doubted_at = now_at,
    -- A doubt ends a minute after its last report.
    doubted_from = case when watch.doubted_at between now_at - interval '1 minute' and now_at then watch.doubted_from else now_at end,
    faults = watch.faults;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_outcomes(worker uuid, closed text[], breakers jsonb, batches text[], arrivals text[], troubles jsonb)
 RETURNS TABLE(id text, again boolean)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  endpoints text[] := array(select closed[n] from generate_series(1, cardinality(closed), 2) as n);
  held text[];
begin
  -- Before the readers are locked, in the order of every change of an endpoint and its reader.
  if jsonb_path_exists(troubles, '$[*] ? (@.settlement == "gone")') then
    return query select endpoint, true from (
      select disable_endpoint("endpointId", called, 'gone') as endpoint from (
        select distinct "endpointId", version as called
        from jsonb_to_recordset(troubles) as trouble ("endpointId" text, version integer, settlement text)
        where settlement = 'gone' order by "endpointId"
      ) gone
    ) disabled where endpoint is not null;
  end if;
  select coalesce(array_agg(endpoint_id), '{}') into held from (
    select endpoint_id from endpoint_readers
    where endpoint_id = any (endpoints || array(select breaker->>'endpointId' from jsonb_array_elements(breakers) as breaker))
      and owner = worker
    order by endpoint_id for no key update
  ) locked;
  -- Separate statements, which see all writes before the rows were locked.
  if cardinality(arrivals) > 0 then
    arrivals := array(
      select arrivals[n + i] from generate_series(1, cardinality(arrivals), 5) as n
      cross join lateral reader_position(arrivals[n + 1]) position cross join generate_series(0, 4) as i
      where arrivals[n + 1] = any (held) and arrivals[n + 2] = any (position.open)
      order by n, i);
  end if;
  if jsonb_array_length(troubles) > 0 then
    troubles := (
      select jsonb_agg(trouble || jsonb_build_object('isOpen', trouble->>'endpointId' = any (held) and exists (
        select from reader_position(trouble->>'endpointId') position where trouble->>'eventId' = any (position.open))))
      from jsonb_array_elements(troubles) as trouble);
  end if;
  perform update_positions(
    array_agg(closed[n]), array_agg(''::text), array_agg(closed[n + 1]), array_agg(''::text), array_agg(''::text))
  from generate_series(1, cardinality(closed), 2) as n where closed[n] = any (held);

  if jsonb_array_length(breakers) > 0 then
    update endpoint_readers reader set failures = breaker.failures, allowance = breaker.allowance,
      probe_at = clock_timestamp() + make_interval(secs => "probeInMs" / 1000.0)
    from jsonb_to_recordset(breakers)
      as breaker ("endpointId" text, version integer, failures integer, allowance integer, "probeInMs" double precision)
    -- Outcomes from before the endpoint changed no longer count.
    join webhook_endpoints endpoint on endpoint.id = "endpointId" and endpoint.version = breaker.version
    where reader.endpoint_id = "endpointId" and owner = worker;
  end if;

  if cardinality(batches) > 0 then
    insert into delivered (organization_id, endpoint_id, first_id, id, deliveries)
    select batches[n], batches[n + 1], batches[n + 2], batches[n + 3],
      case when exists (select from erased_events where organization_id = batches[n]) then (
        -- A partner's response may repeat the body of an event that was erased meanwhile.
        select json_agg(case when erased.event_id is null then delivery
          else jsonb_set(delivery::jsonb, '{attempt,response}', 'null')::json end)
        from json_array_elements(batches[n + 4]::json) delivery
        left join erased_events erased on erased.organization_id = batches[n] and erased.event_id = delivery->>'eventId'
      ) else batches[n + 4]::json end
    from generate_series(1, cardinality(batches), 5) as n
    where batches[n + 1] = any (arrivals);
  end if;

  return query select id, false from unnest(endpoints) as given (id) where id <> all (held);
  if jsonb_array_length(troubles) > 0 then
    return query select * from write_troubles(worker, held, troubles, arrivals);
  elsif cardinality(arrivals) > 0 then
    insert into delivery_outcomes as counted (organization_id, endpoint_id, at, delivered, latencies)
    select arrivals[n], arrivals[n + 1], date_bin('5 minutes', clock_timestamp(), 'epoch'), arrivals[n + 3]::int, arrivals[n + 4]::int[]
    from generate_series(1, cardinality(arrivals), 5) as n
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = counted.delivered + excluded.delivered, latencies = add_counts(counted.latencies, excluded.latencies);
  end if;
end
$function$;

CREATE OR REPLACE FUNCTION public.write_troubles(worker uuid, held text[], troubles jsonb, arrivals text[])
 RETURNS TABLE(id text, again boolean)
 LANGUAGE plpgsql
 SET plan_cache_mode TO 'force_generic_plan'
 SET enable_seqscan TO 'off'
AS $function$
#variable_conflict use_column
declare
  lost text[];
  repeated text[];
  failed jsonb;
  now_at timestamptz := clock_timestamp();
begin
  with trouble as materialized (
    select given.*, is_again, case when is_again or settlement = 'gone' then 'retry' else settlement end as state, exists (
      select from erased_events erased where erased.organization_id = "organizationId" and erased.event_id = "eventId"
    ) as is_erased
    from jsonb_to_recordset(troubles) as given (
      "isRow" boolean, "isOpen" boolean, "organizationId" text, id text, "endpointId" text, "eventId" text, version integer, settlement text,
      delay double precision, attempt jsonb, cause text, groups jsonb)
    left join webhook_endpoints endpoint on endpoint.id = "endpointId"
    cross join lateral (select settlement in ('rejected', 'gone', 'exhausted') and given.version < endpoint.version) changed (is_again)
  ), ours as materialized (
    -- offset 0 makes this a primary key look-up for each row, even if the planner expects few rows in the table.
    select trouble.*, "eventId" as event, "endpointId" as endpoint, row.*
    from trouble cross join lateral (
      select ctid as row_ctid, created_at, attempts, losses from deliveries
      where organization_id = "organizationId" and id = trouble.id and owner = worker
      offset 0
    ) row
    where "isRow"
  ), described as materialized (
    select cause, groups->'blank' as blank, choose_failure_group("organizationId", "endpointId", groups,
      dense_rank() over (partition by groups->'overflow'->>'id' order by cause) - 1) as exact
    from trouble where groups is not null
  ), added as (
    insert into deliveries (organization_id, id, endpoint_id, event_id, attempts, due_at, group_id)
    select "organizationId", id, "endpointId", "eventId", coalesce((attempt->>'number')::int, 0),
      clock_timestamp() + make_interval(secs => coalesce(delay, 0)),
      (select case when is_erased then blank else exact end->>'id' from described where cause = trouble.cause)
    from trouble where "isOpen" and not "isRow" and state = 'retry'
    -- A change of its event types may have stored the event.
    on conflict do nothing
    returning organization_id, id
  ), retried as (
    update deliveries set attempts = coalesce((attempt->>'number')::int, ours.attempts), owner = null, owned_at = null,
      losses = case when attempt is null then ours.losses else 0 end,
      due_at = clock_timestamp() + make_interval(secs => coalesce(delay, 0)),
      group_id = coalesce(
        (select case when is_erased then blank else exact end->>'id' from described where cause = ours.cause), deliveries.group_id)
    from ours where state = 'retry' and deliveries.ctid = row_ctid and deliveries.owner = worker
    returning deliveries.organization_id, deliveries.id
  ), noted as (
    insert into delivery_attempts (organization_id, delivery_id, number, started_at, latency_ms, status, outcome, response)
    select organization_id, each.id, (attempt->>'number')::int, (attempt->>'startedAt')::timestamptz,
      (attempt->>'latencyMs')::int, (attempt->>'status')::int, attempt->>'outcome',
      case when not is_erased then attempt->>'response' end
    from (select * from added union all select * from retried) each
    join trouble on trouble."organizationId" = each.organization_id and trouble.id = each.id and attempt is not null
  ), finished as (
    delete from deliveries using ours
    where state <> 'retry' and deliveries.ctid = row_ctid and deliveries.owner = worker
    returning ours.*
  ), earlier as (
    delete from delivery_attempts made using finished
    where made.organization_id = "organizationId" and made.delivery_id = finished.id and (attempts > 0 or losses > 0)
    returning made.*
  ), whole as (
    select "organizationId" as organization_id, id, "endpointId" as endpoint_id, "eventId" as event_id, state, cause, is_erased, created_at,
      coalesce((
        select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
        from earlier where earlier.organization_id = "organizationId" and earlier.delivery_id = finished.id
      ), '[]') || attempt as attempts
    from finished
    union all
    select "organizationId", id, "endpointId", "eventId", state, cause, is_erased, clock_timestamp(), jsonb_build_array(attempt)
    from trouble where "isOpen" and not "isRow" and state <> 'retry'
  ), history as (
    -- A partner's response may repeat the body of an event that was erased meanwhile.
    select whole.*, case when is_erased
      then (select jsonb_agg(each || '{"response": null}') from jsonb_array_elements(attempts) each) else attempts end as kept_attempts
    from whole
  ), kept as (
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
    select organization_id, id, endpoint_id, event_id, kept_attempts, created_at from history where state = 'delivered'
  ), dead as (
    insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at)
    select organization_id, id, endpoint_id, event_id, state, kept_attempts,
      case when is_erased then blank else exact end->>'id', created_at
    from history join described using (cause)
    where state <> 'delivered'
    on conflict do nothing
    returning organization_id, id, reason
  ), written as (
    select organization_id, id from added union select organization_id, id from retried union select organization_id, id from dead
    union select "organizationId", id from finished
  ), settled as materialized (
    select trouble."organizationId" as organization_id, trouble."endpointId" as endpoint_id, cause, is_erased, dead.reason, made.*
    from written
    join trouble on trouble."organizationId" = written.organization_id and trouble.id = written.id and attempt is not null
    left join dead on dead.organization_id = written.organization_id and dead.id = written.id
    cross join lateral (
      select attempt->>'outcome' as outcome, (attempt->>'status')::int as status, (attempt->>'latencyMs')::int as latency
    ) made
  ), tallied as (
    select organization_id, endpoint_id, count(*) filter (where outcome = 'success') as delivered,
      count(*) filter (where outcome = 'client_error') as client_errors, count(*) filter (where outcome = 'server_error') as server_errors,
      count(*) filter (where status is not null and outcome not in ('success', 'client_error', 'server_error')) as other_statuses,
      count(*) filter (where status is null) as no_responses, count(reason) as dead_letters, count(*) as calls,
      array_agg(latency) as made
    from settled group by organization_id, endpoint_id
  ), arrived as (
    select arrivals[n] as organization_id, arrivals[n + 1] as endpoint_id, arrivals[n + 3]::int as count, arrivals[n + 4]::int[] as histogram
    from generate_series(1, cardinality(arrivals), 5) as n
  ), own as materialized (
    select organization_id, endpoint_id, coalesce(delivered, 0) + coalesce(count, 0) as delivered, coalesce(client_errors, 0) as client_errors,
      coalesce(server_errors, 0) as server_errors, coalesce(other_statuses, 0) as other_statuses, coalesce(no_responses, 0) as no_responses,
      coalesce(dead_letters, 0) as dead_letters, coalesce(calls, 0) + coalesce(count, 0) as calls,
      latency_histogram(made, histogram) as latencies
    from tallied full join arrived using (organization_id, endpoint_id)
  ), counted as (
    insert into delivery_outcomes as counted (
      organization_id, endpoint_id, at, delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters, latencies)
    select organization_id, endpoint_id, date_bin('5 minutes', now_at, 'epoch'),
      delivered, client_errors, server_errors, other_statuses, no_responses, dead_letters, latencies
    from own order by endpoint_id
    on conflict (endpoint_id, at, seconds, organization_id) do update
      set delivered = counted.delivered + excluded.delivered, client_errors = counted.client_errors + excluded.client_errors,
        server_errors = counted.server_errors + excluded.server_errors,
        other_statuses = counted.other_statuses + excluded.other_statuses,
        no_responses = counted.no_responses + excluded.no_responses, dead_letters = counted.dead_letters + excluded.dead_letters,
        latencies = add_counts(counted.latencies, excluded.latencies)
    returning organization_id, endpoint_id, delivered, delivered + client_errors + server_errors + other_statuses + no_responses as calls
  )
  select
    array(select id from trouble where "isRow" and not exists (
      select from (select organization_id, id from retried union all select "organizationId", id from finished) settled
      where settled.organization_id = "organizationId" and settled.id = trouble.id)),
    array(select id from trouble where is_again and ("isRow" or "endpointId" = any (held))),
    (select jsonb_agg(change) from (
      select organization_id, failure_group->>'id' as group_id, now_at as at, failures, counted.calls - own.calls as calls_before,
        counted.delivered - own.delivered as delivered_before, counted.delivered as delivered_then, reason, dead as opened, dead as stored,
        failure_group
      from (
        select organization_id, endpoint_id, cause, is_erased, reason, count(*) as failures, count(reason) as dead
        from settled where cause is not null group by organization_id, endpoint_id, cause, is_erased, reason
      ) each
      join described using (cause)
      cross join lateral (select case when is_erased then blank else exact end) chosen (failure_group)
      join own using (organization_id, endpoint_id) join counted using (organization_id, endpoint_id)
    ) change)
  into lost, repeated, failed;
  -- After delivery_outcomes, as in every statement that counts failures.
  perform count_failures(failed);
  if lost || repeated <> '{}' then
    return query select id, false from unnest(lost) as id union all select id, true from unnest(repeated) as id;
  end if;
end
$function$;

create table api_keys (
  id text collate "C" not null,
  organization_id text collate "C" not null,
  name text not null,
  scopes text[] not null,
  hash bytea not null,
  prefix text not null,
  last_four text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_hash_key UNIQUE (hash)
);

create table audit_chain (
  number integer not null,
  kind text collate "C" not null,
  command_id text collate "C" not null,
  previous bytea,
  hash bytea not null,
  removed_at timestamp with time zone,
  removed_by text,
  constraint audit_chain_pkey PRIMARY KEY (number),
  constraint audit_chain_command_id_kind_key UNIQUE (command_id, kind),
  constraint audit_chain_check CHECK ((((kind = 'removed'::text) = (removed_at IS NOT NULL)) AND ((kind = 'removed'::text) = (removed_by IS NOT NULL)))),
  constraint audit_chain_kind_check CHECK ((kind = ANY (ARRAY['begun'::text, 'ended'::text, 'removed'::text])))
);

create table audit_log (
  id text collate "C" default make_id('aud'::text) not null,
  begun_at timestamp with time zone default clock_timestamp() not null,
  role text default SESSION_USER not null,
  operator text,
  os_user text not null,
  host text not null,
  command text not null,
  arguments json not null,
  objects text[] collate "C" not null,
  organizations text[] not null,
  submission text,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_submission_key UNIQUE (submission)
);

create table audit_results (
  command_id text collate "C" not null,
  ended_at timestamp with time zone default clock_timestamp() not null,
  result text not null,
  code text,
  constraint audit_results_pkey PRIMARY KEY (command_id),
  constraint audit_results_check CHECK (((code IS NOT NULL) = (result = 'failed'::text))),
  constraint audit_results_result_check CHECK ((result = ANY (ARRAY['succeeded'::text, 'failed'::text, 'interrupted'::text])))
);

create table campaign_count_changes (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  hour timestamp with time zone default '-infinity'::timestamp with time zone not null,
  recipients integer default 0 not null,
  published integer default 0 not null,
  withdrawn integer default 0 not null,
  sent integer default 0 not null,
  bounced integer default 0 not null,
  answered integer default 0 not null,
  queued integer default 0 not null,
  deferred integer default 0 not null,
  unknown integer default 0 not null,
  quarantined integer default 0 not null,
  opened integer default 0 not null,
  clicked integer default 0 not null,
  unsuspected_opened integer default 0 not null,
  unsuspected_clicked integer default 0 not null,
  accounts integer default 0 not null,
  learners integer default 0 not null,
  completers integer default 0 not null,
  refused_later integer default 0 not null,
  complained integer default 0 not null,
  unsubscribed integer default 0 not null,
  id uuid default gen_random_uuid() not null,
  constraint campaign_count_changes_pkey PRIMARY KEY (organization_id, campaign_id, id)
) with (autovacuum_vacuum_threshold=5000, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_cost_delay=0);

create table campaign_counts (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  hour timestamp with time zone default '-infinity'::timestamp with time zone not null,
  recipients integer default 0 not null,
  published integer default 0 not null,
  withdrawn integer default 0 not null,
  sent integer default 0 not null,
  bounced integer default 0 not null,
  answered integer default 0 not null,
  queued integer default 0 not null,
  deferred integer default 0 not null,
  unknown integer default 0 not null,
  quarantined integer default 0 not null,
  opened integer default 0 not null,
  clicked integer default 0 not null,
  unsuspected_opened integer default 0 not null,
  unsuspected_clicked integer default 0 not null,
  accounts integer default 0 not null,
  learners integer default 0 not null,
  completers integer default 0 not null,
  refused_later integer default 0 not null,
  complained integer default 0 not null,
  unsubscribed integer default 0 not null,
  constraint campaign_counts_pkey PRIMARY KEY (organization_id, campaign_id, hour)
) with (fillfactor=50);

create table campaign_domains (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  domain text collate "C" not null,
  sent integer default 0 not null,
  deferred integer default 0 not null,
  refused integer default 0 not null,
  mailbox_not_found integer default 0 not null,
  mailbox_disabled integer default 0 not null,
  domain_not_found integer default 0 not null,
  address_invalid integer default 0 not null,
  other integer default 0 not null,
  last_reply text,
  last_reply_at timestamp with time zone,
  pause_status text,
  paused_until timestamp with time zone,
  size integer generated always as ((floor((ln(((((1 + sent))::double precision + ((10)::double precision * ((deferred + refused))::double precision)) + ((10 * ((((mailbox_not_found + mailbox_disabled) + domain_not_found) + address_invalid) + other)))::double precision)) * (2)::double precision)))::integer) stored not null,
  constraint campaign_domains_pkey PRIMARY KEY (organization_id, campaign_id, domain)
) with (fillfactor=50);

create unlogged table campaign_turns (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  next_at timestamp with time zone not null,
  constraint campaign_turns_pkey PRIMARY KEY (organization_id, campaign_id)
) with (fillfactor=50);

create table campaigns (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  program_id text collate "C" not null,
  name text not null,
  kind text not null,
  status text default 'draft'::text not null,
  subject text not null,
  preheader text,
  html text not null,
  text text,
  fields text[] default '{}'::text[] not null,
  short_link text,
  per_minute integer,
  window_start timestamp with time zone not null,
  window_end timestamp with time zone not null,
  pause_on_complaints boolean default false not null,
  stopped_at timestamp with time zone,
  stopped_by text,
  stop_reason text,
  complaints_accepted integer default 0 not null,
  status_before_restore text,
  edited_at timestamp with time zone default clock_timestamp() not null,
  tested_at timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint campaigns_pkey PRIMARY KEY (organization_id, id),
  constraint campaigns_check CHECK ((window_end > window_start)),
  constraint campaigns_kind_check CHECK ((kind = ANY (ARRAY['traffic'::text, 'survey'::text]))),
  constraint campaigns_per_minute_check CHECK ((per_minute > 0)),
  constraint campaigns_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'publishing'::text, 'published'::text, 'sending'::text, 'completed'::text, 'paused'::text, 'cancelled'::text])))
);

create table clock_watch (
  believed_at timestamp with time zone not null,
  steady_from timestamp with time zone,
  steady_to timestamp with time zone,
  doubt text,
  doubted_from timestamp with time zone,
  doubted_at timestamp with time zone,
  faults tstzmultirange default '{}'::tstzmultirange not null,
  identity text,
  seen_at timestamp with time zone
);

create table complaints (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  feedback_type text not null,
  reported_at timestamp with time zone default clock_timestamp() not null,
  constraint complaints_pkey PRIMARY KEY (organization_id, campaign_id, recipient_id)
);

create table dead_letters (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  reason text not null,
  attempts jsonb not null,
  group_id text collate "C" not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone default clock_timestamp() not null,
  replayed_as text collate "C",
  constraint dead_letters_pkey PRIMARY KEY (organization_id, id),
  constraint dead_letters_reason_check CHECK ((reason = ANY (ARRAY['rejected'::text, 'exhausted'::text, 'poison'::text])))
);

create table delivered (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C",
  attempts jsonb,
  created_at timestamp with time zone,
  finished_at timestamp with time zone default clock_timestamp() not null,
  first_id text collate "C",
  deliveries json,
  cancelled boolean,
  constraint delivered_pkey PRIMARY KEY (id, organization_id, finished_at)
) partition by RANGE (finished_at);

create table deliveries (
  organization_id text collate "C" not null,
  id text collate "C" default make_id('dlv'::text) not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  attempts integer default 0 not null,
  due_at timestamp with time zone not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  losses integer default 0 not null,
  replay boolean default false not null,
  group_id text collate "C",
  owner uuid,
  owned_at timestamp with time zone,
  constraint deliveries_pkey PRIMARY KEY (organization_id, id)
) with (fillfactor=70, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_cost_delay=0, autovacuum_analyze_threshold=5000, autovacuum_analyze_scale_factor=0.02);

create table delivery_attempts (
  organization_id text collate "C" not null,
  delivery_id text collate "C" not null,
  number integer not null,
  started_at timestamp with time zone not null,
  latency_ms integer,
  status integer,
  outcome text not null,
  response text,
  constraint delivery_attempts_pkey PRIMARY KEY (organization_id, delivery_id, number, started_at)
);

create table delivery_outcomes (
  organization_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  at timestamp with time zone not null,
  seconds integer default 300 not null,
  delivered integer default 0 not null,
  client_errors integer default 0 not null,
  server_errors integer default 0 not null,
  other_statuses integer default 0 not null,
  no_responses integer default 0 not null,
  dead_letters integer default 0 not null,
  latencies integer[] default '{}'::integer[] not null,
  constraint delivery_outcomes_pkey PRIMARY KEY (endpoint_id, at, seconds, organization_id)
) with (fillfactor=50, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_cost_delay=0);

create table delivery_workers (
  token uuid not null,
  alive_until timestamp with time zone not null,
  stopping boolean default false not null,
  process text,
  constraint delivery_workers_pkey PRIMARY KEY (token)
) with (fillfactor=50);

create table digest_funnel (
  organization_id text collate "C" not null,
  program_id text collate "C" not null,
  date date not null,
  account_created integer not null,
  learner_qualified integer not null,
  completer_qualified integer not null,
  account_created_total integer not null,
  learner_qualified_total integer not null,
  completer_qualified_total integer not null,
  learner_reached_at timestamp with time zone,
  completer_reached_at timestamp with time zone,
  constraint digest_funnel_pkey PRIMARY KEY (organization_id, program_id, date)
) with (fillfactor=50);

create table digest_outreach (
  organization_id text collate "C" not null,
  program_id text collate "C" not null,
  date date not null,
  recipients_published integer default 0 not null,
  sent integer default 0 not null,
  bounced integer default 0 not null,
  opened integer default 0 not null,
  clicked integer default 0 not null,
  unique_opened integer default 0 not null,
  unique_clicked integer default 0 not null,
  unsuspected_opened integer default 0 not null,
  unsuspected_clicked integer default 0 not null,
  unsuspected_unique_opened integer default 0 not null,
  unsuspected_unique_clicked integer default 0 not null,
  constraint digest_outreach_pkey PRIMARY KEY (organization_id, date, program_id)
) with (fillfactor=50);

create table dkim_keys (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  sender_id text collate "C" not null,
  selector text not null,
  public_key text not null,
  ciphertext bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  signs_from timestamp with time zone,
  signs_until timestamp with time zone,
  constraint dkim_keys_pkey PRIMARY KEY (organization_id, id)
);

create table endpoint_headers (
  endpoint_id text collate "C" not null,
  organization_id text collate "C" not null,
  ciphertext bytea not null,
  constraint endpoint_headers_pkey PRIMARY KEY (endpoint_id)
);

create table endpoint_readers (
  endpoint_id text collate "C" not null,
  organization_id text collate "C" not null,
  owner uuid,
  failures integer default 0 not null,
  allowance integer,
  probe_at timestamp with time zone,
  failing_since timestamp with time zone,
  judged_since timestamp with time zone default clock_timestamp() not null,
  notices integer default 0 not null,
  noticed_at timestamp with time zone,
  notice_to text[] default '{}'::text[] not null,
  notice_due_at timestamp with time zone,
  constraint endpoint_readers_pkey PRIMARY KEY (endpoint_id)
) with (fillfactor=50);

create table erased_clinicians (
  organization_id text collate "C" not null,
  hash bytea not null,
  constraint erased_clinicians_pkey PRIMARY KEY (organization_id, hash)
);

create table erased_events (
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  erased_at timestamp with time zone default clock_timestamp() not null,
  constraint erased_events_pkey PRIMARY KEY (organization_id, event_id)
);

create table erasure_keys (
  organization_id text collate "C" not null,
  ciphertext bytea not null,
  placeholders bigint default 0 not null,
  constraint erasure_keys_pkey PRIMARY KEY (organization_id)
);

create table erasures (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  operator text not null,
  commands text[] collate "C" not null,
  subject bytea not null,
  hashes bytea[] not null,
  release text not null,
  counts jsonb default '{}'::jsonb not null,
  state bytea,
  started_at timestamp with time zone default clock_timestamp() not null,
  finished_at timestamp with time zone,
  constraint erasures_pkey PRIMARY KEY (organization_id, id),
  constraint erasures_check CHECK (((state IS NULL) = (finished_at IS NOT NULL)))
);

create table events (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  type text not null,
  campaign_id text collate "C" not null,
  program_id text collate "C" not null,
  recipient_id text collate "C",
  occurred_at timestamp with time zone not null,
  emitted_at timestamp with time zone not null,
  body text not null,
  traceparent text,
  constraint events_pkey PRIMARY KEY (organization_id, id, emitted_at)
) partition by RANGE (emitted_at);

create table failure_groups (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  endpoint_id text collate "C" not null,
  status integer,
  outcome text not null,
  first_line text,
  failures bigint default 0 not null,
  opened_at timestamp with time zone not null,
  last_at timestamp with time zone not null,
  closed_at timestamp with time zone,
  calls_before integer default 0 not null,
  delivered_before integer default 0 not null,
  delivered_then integer default 0 not null,
  rejected integer default 0 not null,
  exhausted integer default 0 not null,
  poison integer default 0 not null,
  open integer default 0 not null,
  stored integer default 0 not null,
  muted_at timestamp with time zone,
  muted_reason text,
  constraint failure_groups_pkey PRIMARY KEY (id, organization_id),
  constraint failure_groups_check CHECK (((muted_at IS NULL) = (muted_reason IS NULL)))
) with (fillfactor=50, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_cost_delay=0);

create table granted_roles (
  role text collate "C" not null,
  kind text collate "C" not null,
  constraint granted_roles_pkey PRIMARY KEY (role, kind),
  constraint granted_roles_kind_check CHECK ((kind = ANY (ARRAY['api'::text, 'worker'::text, 'operator'::text, 'reader'::text])))
);

create unlogged table hit_windows (
  window_start timestamp with time zone not null,
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  link_hash bytea not null,
  network text collate "C" not null,
  hits integer not null,
  constraint hit_windows_pkey PRIMARY KEY (window_start, organization_id, recipient_id, link_hash, network)
);

create table hits (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  recipient_id text collate "C" not null,
  kind text not null,
  link text,
  method text not null,
  address text not null,
  headers jsonb not null,
  received_at timestamp with time zone not null,
  judged_at timestamp with time zone,
  reasons text[],
  repeats integer default 0 not null,
  constraint hits_pkey PRIMARY KEY (organization_id, id),
  constraint hits_check CHECK (((link IS NOT NULL) = (kind = 'click'::text))),
  constraint hits_check1 CHECK (((reasons IS NULL) = (judged_at IS NULL))),
  constraint hits_kind_check CHECK ((kind = ANY (ARRAY['open'::text, 'click'::text])))
) partition by RANGE (id);

create table imports (
  organization_id text collate "C" not null,
  id text collate "C" default make_id('imp'::text) not null,
  campaign_id text collate "C" not null,
  operator text not null,
  begun_at timestamp with time zone default clock_timestamp() not null,
  active_at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  fault text,
  lines integer,
  imported integer default 0 not null,
  updated integer default 0 not null,
  already_there integer default 0 not null,
  suppressed integer default 0 not null,
  repeated integer default 0 not null,
  rejected integer default 0 not null,
  rejects jsonb default '[]'::jsonb not null,
  constraint imports_pkey PRIMARY KEY (organization_id, id)
);

create table inbox (
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  endpoint_id text collate "C" not null,
  secret_id text collate "C" not null,
  type text not null,
  npi text collate "C",
  body text not null,
  received_at timestamp with time zone not null,
  applied_at timestamp with time zone,
  quarantined_at timestamp with time zone,
  reason text,
  differing integer default 0 not null,
  traceparent text,
  constraint inbox_check CHECK (((quarantined_at IS NULL) = (reason IS NULL))),
  constraint inbox_check1 CHECK (((applied_at IS NULL) OR (quarantined_at IS NULL)))
) partition by RANGE (received_at);

create table inbox_keys (
  organization_id text collate "C" not null,
  event_id text collate "C" not null,
  received_at timestamp with time zone not null,
  constraint inbox_keys_pkey PRIMARY KEY (organization_id, event_id)
);

create table late_refusals (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  cause text not null,
  refused_at timestamp with time zone default clock_timestamp() not null,
  constraint late_refusals_pkey PRIMARY KEY (organization_id, campaign_id, recipient_id),
  constraint late_refusals_cause_check CHECK ((cause = ANY (ARRAY['policy'::text, 'content'::text, 'full'::text, 'expired'::text, 'other'::text])))
);

create table link_domains (
  organization_id text collate "C" not null,
  domain text collate "C" not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  verifying_until timestamp with time zone,
  verified_at timestamp with time zone,
  constraint link_domains_pkey PRIMARY KEY (organization_id, domain),
  constraint link_domains_domain_key UNIQUE (domain)
);

create table message_attempts (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  number integer not null,
  outcome text not null,
  times integer default 1 not null,
  first_at timestamp with time zone default statement_timestamp() not null,
  last_at timestamp with time zone default statement_timestamp() not null,
  reply text,
  constraint message_attempts_pkey PRIMARY KEY (organization_id, recipient_id, number, outcome),
  constraint message_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['accepted'::text, 'bounced'::text, 'deferred'::text, 'refused'::text, 'unreachable'::text, 'unknown'::text])))
);

create table messages (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  campaign_id text collate "C" not null,
  attempts integer default 0 not null,
  due_at timestamp with time zone not null,
  lease_token uuid,
  lease_until timestamp with time zone,
  unknown_outcomes integer default 0 not null,
  quarantined_at timestamp with time zone,
  failure_class text,
  failure_code text,
  constraint messages_pkey PRIMARY KEY (organization_id, recipient_id)
) with (fillfactor=70);

create table migrations (
  file text collate "C" not null,
  checksum text not null,
  applied_at timestamp with time zone default clock_timestamp() not null,
  constraint migrations_pkey PRIMARY KEY (file)
);

create table operator_sessions (
  hash bytea not null,
  id text collate "C" default make_id('ses'::text) not null,
  operator_id text collate "C" not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  last_used_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  constraint operator_sessions_pkey PRIMARY KEY (hash)
);

create table operators (
  id text collate "C" not null,
  name text not null,
  role text not null,
  organization_id text collate "C",
  created_at timestamp with time zone default clock_timestamp() not null,
  removed_at timestamp with time zone,
  constraint operators_pkey PRIMARY KEY (id),
  constraint operators_check CHECK (((role <> ALL (ARRAY['partner'::text, 'partner-admin'::text])) OR (organization_id IS NOT NULL))),
  constraint operators_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'admin'::text, 'partner'::text, 'partner-admin'::text])))
);

create table organization_clock (
  organization_id text collate "C" not null,
  last timestamp with time zone not null,
  server_started_at timestamp with time zone,
  identity text,
  fenced_at timestamp with time zone,
  restored_at timestamp with time zone,
  restore_fenced_at timestamp with time zone,
  constraint organization_clock_pkey PRIMARY KEY (organization_id)
) with (fillfactor=50);

create unlogged table organization_turns (
  organization_id text collate "C" not null,
  next_at timestamp with time zone not null,
  constraint organization_turns_pkey PRIMARY KEY (organization_id)
) with (fillfactor=50);

create table organizations (
  id text collate "C" not null,
  name text not null,
  contacts text[] default '{}'::text[] not null,
  self_service boolean default true not null,
  max_endpoints integer default 20 not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint organizations_pkey PRIMARY KEY (id),
  constraint organizations_contacts_check CHECK ((cardinality(contacts) <= 10)),
  constraint organizations_max_endpoints_check CHECK (((max_endpoints >= 0) AND (max_endpoints <= 10000)))
);

create table programs (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  slug text not null,
  name text not null,
  sender_name text,
  postal_address text,
  status text default 'active'::text not null,
  learner_target integer,
  completer_target integer,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint programs_pkey PRIMARY KEY (organization_id, id),
  constraint programs_slug UNIQUE (organization_id, slug),
  constraint programs_completer_target_check CHECK ((completer_target > 0)),
  constraint programs_learner_target_check CHECK ((learner_target > 0)),
  constraint programs_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'paused'::text, 'archived'::text])))
);

create table qualifications (
  organization_id text collate "C" not null,
  program_id text collate "C" not null,
  stage text not null,
  npi text collate "C" not null,
  event_id text collate "C" not null,
  counted_at timestamp with time zone not null,
  constraint qualifications_pkey PRIMARY KEY (organization_id, program_id, stage, npi),
  constraint qualifications_stage_check CHECK ((stage = ANY (ARRAY['account_created'::text, 'learner_qualified'::text, 'completer_qualified'::text])))
);

create unlogged table rate_windows (
  key_id text collate "C" not null,
  window_start bigint not null,
  count integer not null,
  constraint rate_windows_pkey PRIMARY KEY (key_id, window_start)
) with (fillfactor=50);

create table reader_positions (
  endpoint_id text collate "C" not null,
  generation bigint default 1 not null,
  organization_id text collate "C" not null,
  begun_at timestamp with time zone not null,
  begun_id text collate "C" not null,
  open text[] default '{}'::text[] not null,
  intended_at timestamp with time zone,
  updates integer default 0 not null,
  constraint reader_positions_pkey PRIMARY KEY (endpoint_id, generation, organization_id)
) with (fillfactor=50, toast_tuple_target=8160, autovacuum_vacuum_threshold=5000, autovacuum_vacuum_scale_factor=0.01, autovacuum_vacuum_cost_delay=0);

create table recipient_fields (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  fields jsonb not null,
  constraint recipient_fields_pkey PRIMARY KEY (organization_id, recipient_id)
);

create table recipient_keys (
  organization_id text collate "C" not null,
  token text collate "C" not null,
  campaign_id text collate "C" not null,
  npi text collate "C" not null,
  email text collate "C" not null,
  recipient_id text collate "C" not null,
  constraint recipient_keys_pkey PRIMARY KEY (organization_id, token),
  constraint recipient_keys_email UNIQUE (organization_id, campaign_id, email),
  constraint recipient_keys_npi UNIQUE (organization_id, campaign_id, npi),
  constraint recipient_keys_npi_check CHECK ((npi ~ '^[0-9]{10}$'::text)),
  constraint recipient_keys_token_check CHECK ((token ~ '^[0-9A-Za-z]{6}$'::text))
);

create table recipients (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  campaign_id text collate "C" not null,
  program_id text collate "C" not null,
  token text collate "C" not null,
  npi text collate "C" not null,
  email text not null,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  published_at timestamp with time zone,
  sent_at timestamp with time zone,
  bounced_at timestamp with time zone,
  last_event_at timestamp with time zone,
  withdrawn_at timestamp with time zone,
  withdrawal_reason text,
  account_created_at timestamp with time zone,
  erased_at timestamp with time zone,
  opened_on date,
  unsuspected_opened_on date,
  clicked_on date,
  unsuspected_clicked_on date,
  constraint recipients_pkey PRIMARY KEY (organization_id, id),
  constraint recipients_check CHECK (((withdrawn_at IS NULL) = (withdrawal_reason IS NULL))),
  constraint recipients_withdrawal_reason_check CHECK ((withdrawal_reason = ANY (ARRAY['suppressed'::text, 'learner_qualified'::text, 'completer_qualified'::text, 'quota_reached'::text])))
);

create table replay_jobs (
  id text collate "C" default make_id('rpl'::text) not null,
  kind text default 'dead_letters'::text not null,
  organization_id text collate "C",
  endpoint_id text collate "C",
  group_id text collate "C",
  status integer,
  event_type text,
  reason text,
  event_types text[],
  from_at timestamp with time zone,
  to_at timestamp with time zone,
  before_at timestamp with time zone not null,
  rate integer not null,
  total integer not null,
  replayed integer default 0 not null,
  after_at timestamp with time zone not null,
  after_id text collate "C" default ''::text not null,
  scan_limit integer default 0 not null,
  next_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  finished_at timestamp with time zone,
  cancelled_at timestamp with time zone,
  constraint replay_jobs_pkey PRIMARY KEY (id),
  constraint replay_jobs_kind_check CHECK ((kind = ANY (ARRAY['dead_letters'::text, 'log'::text, 'waiting'::text]))),
  constraint replay_jobs_rate_check CHECK ((rate > 0))
);

create table restores (
  id text collate "C" not null,
  restored_to timestamp with time zone not null,
  last_transaction_at timestamp with time zone,
  begun_at timestamp with time zone default clock_timestamp() not null,
  mail_log_read_at timestamp with time zone,
  finished_at timestamp with time zone,
  constraint restores_pkey PRIMARY KEY (id)
);

create table retention_limits (
  parent text not null,
  min_keep integer not null,
  dropped_on date,
  constraint retention_limits_pkey PRIMARY KEY (parent),
  constraint retention_limits_min_keep_check CHECK ((min_keep > 0))
);

create unlogged table send_rates (
  scope text collate "C" not null,
  next_at timestamp with time zone not null,
  constraint send_rates_pkey PRIMARY KEY (scope)
) with (fillfactor=50);

create table senders (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  program_id text collate "C",
  from_name text not null,
  from_address text not null,
  reply_to text,
  dkim_domain text not null,
  bounce_domain text,
  link_domain text collate "C",
  live_since timestamp with time zone,
  ramp integer[],
  ramp_day_number integer default 1 not null,
  ramp_counted_on date default '-infinity'::date not null,
  ramp_sent integer default 0 not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint senders_pkey PRIMARY KEY (organization_id, id)
) with (fillfactor=50);

create table sign_in_links (
  hash bytea not null,
  operator_id text collate "C" not null,
  once boolean not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  constraint sign_in_links_pkey PRIMARY KEY (hash)
);

create table signature_rejections (
  endpoint_id text collate "C" not null,
  reason text not null,
  count integer not null,
  first_at timestamp with time zone default clock_timestamp() not null,
  last_at timestamp with time zone default clock_timestamp() not null,
  constraint signature_rejections_pkey PRIMARY KEY (endpoint_id, reason)
) with (fillfactor=50);

create table signing_secrets (
  id text collate "C" default make_id('sec'::text) not null,
  organization_id text collate "C" not null,
  endpoint_id text collate "C",
  ciphertext bytea,
  hash bytea,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  last_verified_at timestamp with time zone,
  constraint signing_secrets_pkey PRIMARY KEY (id)
);

create table stored_response_totals (
  organization_id text collate "C" not null,
  bytes bigint not null,
  constraint stored_response_totals_pkey PRIMARY KEY (organization_id)
) with (fillfactor=50);

create table stored_responses (
  organization_id text collate "C" not null,
  key text collate "C" not null,
  fingerprint bytea not null,
  status smallint not null,
  headers jsonb not null,
  encoding text not null,
  body bytea,
  bytes_before bigint not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint stored_responses_pkey PRIMARY KEY (organization_id, key),
  constraint stored_responses_encoding_check CHECK ((encoding = ANY (ARRAY['identity'::text, 'zstd'::text])))
);

create table suppressions (
  organization_id text collate "C" not null,
  kind text not null,
  value text collate "C" not null,
  program_id text collate "C" not null,
  reason text not null,
  by_unsubscription boolean default false not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  applied_at timestamp with time zone default clock_timestamp(),
  constraint suppressions_pkey PRIMARY KEY (organization_id, kind, value, program_id),
  constraint suppressions_check CHECK (
CASE program_id
    WHEN ''::text THEN (reason <> 'account_created'::text)
    ELSE (reason = ANY (ARRAY['account_created'::text, 'unsubscribed'::text, 'operator'::text]))
END),
  constraint suppressions_kind_check CHECK ((kind = ANY (ARRAY['npi'::text, 'email'::text]))),
  constraint suppressions_reason_check CHECK ((reason = ANY (ARRAY['account_created'::text, 'unsubscribed'::text, 'operator'::text, 'bounced'::text, 'complained'::text])))
);

create table timelines (
  timeline text collate "C" not null,
  mark text not null,
  constraint timelines_pkey PRIMARY KEY (timeline)
);

create table unsubscriptions (
  organization_id text collate "C" not null,
  campaign_id text collate "C" not null,
  recipient_id text collate "C" not null,
  from_organization boolean not null,
  asked_at timestamp with time zone default clock_timestamp() not null,
  repeats integer default 0 not null,
  suppressed_at timestamp with time zone,
  revoked_at timestamp with time zone,
  lifted_at timestamp with time zone,
  constraint unsubscriptions_pkey PRIMARY KEY (organization_id, recipient_id)
);

create table webhook_endpoints (
  id text collate "C" not null,
  organization_id text collate "C" not null,
  url text not null,
  enabled boolean default true not null,
  disabled_at timestamp with time zone,
  disabled_reason text,
  event_types text[],
  max_in_flight integer,
  per_second integer,
  retry_statuses integer[] default '{}'::integer[] not null,
  retry_delays integer[],
  disable_on_gone boolean default false not null,
  disable_when_failing boolean default true not null,
  standard_webhooks boolean default false not null,
  headers text[] default '{}'::text[] not null,
  shared_secrets_until timestamp with time zone default 'infinity'::timestamp with time zone not null,
  version integer default 1 not null,
  address_since timestamp with time zone default clock_timestamp() not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  removed_at timestamp with time zone,
  constraint webhook_endpoints_pkey PRIMARY KEY (id),
  constraint webhook_endpoints_check CHECK (((removed_at IS NULL) OR (NOT enabled))),
  constraint webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['operator'::text, 'gone'::text, 'failing'::text]))),
  constraint webhook_endpoints_headers_check CHECK ((cardinality(headers) <= 10)),
  constraint webhook_endpoints_max_in_flight_check CHECK ((max_in_flight > 0)),
  constraint webhook_endpoints_per_second_check CHECK ((per_second > 0)),
  constraint webhook_endpoints_retry_delays_check CHECK (((cardinality(retry_delays) >= 1) AND (cardinality(retry_delays) <= 19) AND (1 <= ALL (retry_delays)) AND (604800 >= ALL (retry_delays)))),
  constraint webhook_endpoints_retry_statuses_check CHECK (((cardinality(retry_statuses) <= 32) AND (400 <= ALL (retry_statuses)) AND (599 >= ALL (retry_statuses))))
);

create table delivered_default partition of delivered DEFAULT;

create table events_later partition of events FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

create table hits_later partition of hits FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

create table inbox_later partition of inbox (constraint inbox_later_pkey PRIMARY KEY (organization_id, event_id)) FOR VALUES FROM (MINVALUE) TO (MAXVALUE);

CREATE INDEX api_keys_of_organization ON public.api_keys USING btree (organization_id, id);
CREATE INDEX audit_log_of_object ON public.audit_log USING gin (objects);
CREATE INDEX campaign_counts_by_hour ON public.campaign_counts USING btree (hour);
CREATE INDEX campaign_domains_bounced ON public.campaign_domains USING btree (organization_id, domain) WHERE (((((mailbox_not_found + mailbox_disabled) + domain_not_found) + address_invalid) + other) > 0);
CREATE INDEX campaign_domains_by_size ON public.campaign_domains USING btree (organization_id, campaign_id, size);
CREATE INDEX campaign_domains_paused ON public.campaign_domains USING btree (paused_until) WHERE (paused_until IS NOT NULL);
CREATE INDEX campaign_turns_next ON public.campaign_turns USING btree (organization_id, next_at);
CREATE INDEX campaigns_under_way ON public.campaigns USING btree (status, window_start) WHERE (status = ANY (ARRAY['scheduled'::text, 'publishing'::text, 'published'::text, 'sending'::text]));
CREATE UNIQUE INDEX clock_watch_row ON public.clock_watch USING btree ((true));
CREATE INDEX complaints_by_time ON public.complaints USING btree (reported_at);
CREATE INDEX complaints_of_campaign ON public.complaints USING btree (organization_id, campaign_id, reported_at, recipient_id);
CREATE INDEX dead_letters_by_id ON public.dead_letters USING btree (id);
CREATE INDEX dead_letters_of_endpoint ON public.dead_letters USING btree (endpoint_id, id);
CREATE INDEX dead_letters_of_group ON public.dead_letters USING btree (group_id, finished_at, id) WHERE (replayed_as IS NULL);
CREATE INDEX dead_letters_replayed ON public.dead_letters USING btree (finished_at, id) WHERE (replayed_as IS NOT NULL);
CREATE INDEX dead_letters_to_replay ON public.dead_letters USING btree (finished_at, id) WHERE (replayed_as IS NULL);
CREATE INDEX deliveries_by_id ON public.deliveries USING btree (id);
CREATE INDEX deliveries_due ON public.deliveries USING btree (endpoint_id, replay, due_at, id) WHERE (owner IS NULL);
CREATE INDEX deliveries_lost ON public.deliveries USING btree (endpoint_id, due_at, id) WHERE ((owner IS NULL) AND (losses > 0));
CREATE INDEX deliveries_owned ON public.deliveries USING btree (owner) WHERE (owner IS NOT NULL);
CREATE INDEX delivery_outcomes_by_time ON public.delivery_outcomes USING btree (seconds, at);
CREATE UNIQUE INDEX dkim_keys_of_sender ON public.dkim_keys USING btree (organization_id, sender_id, selector);
CREATE INDEX endpoint_readers_of_organization ON public.endpoint_readers USING btree (organization_id, endpoint_id);
CREATE INDEX erasures_of_command ON public.erasures USING gin (commands);
CREATE INDEX events_by_type ON public.events USING btree (organization_id, type, emitted_at, id);
CREATE INDEX events_log ON public.events USING btree (organization_id, emitted_at, id);
CREATE INDEX events_of_recipient ON public.events USING btree (organization_id, recipient_id, emitted_at) WHERE (type = ANY (ARRAY['outreach.email_bounced'::text, 'outreach.email_opened'::text, 'outreach.email_clicked'::text]));
CREATE INDEX failure_groups_lasting ON public.failure_groups USING btree (organization_id, id) WHERE (closed_at IS NULL);
CREATE INDEX failure_groups_of_endpoint ON public.failure_groups USING btree (organization_id, endpoint_id);
CREATE INDEX hits_judged ON public.hits USING btree (judged_at) WHERE (judged_at IS NOT NULL);
CREATE INDEX hits_of_recipient ON public.hits USING btree (recipient_id, received_at);
CREATE INDEX hits_to_judge ON public.hits USING btree (organization_id, received_at, id) WHERE (judged_at IS NULL);
CREATE INDEX imports_of_campaign ON public.imports USING btree (organization_id, campaign_id, id);
CREATE INDEX inbox_applied_of_clinician ON public.inbox USING btree (organization_id, npi, received_at) WHERE (applied_at IS NOT NULL);
CREATE INDEX inbox_keys_by_receipt ON public.inbox_keys USING btree (organization_id, received_at, event_id);
CREATE INDEX inbox_quarantined ON public.inbox USING btree (organization_id, quarantined_at, event_id) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX inbox_to_apply ON public.inbox USING btree (organization_id, received_at, event_id) WHERE ((applied_at IS NULL) AND (quarantined_at IS NULL));
CREATE INDEX late_refusals_of_campaign ON public.late_refusals USING btree (organization_id, campaign_id, refused_at, recipient_id);
CREATE INDEX message_attempts_by_age ON public.message_attempts USING btree (last_at);
CREATE INDEX messages_due ON public.messages USING btree (organization_id, campaign_id, due_at, recipient_id);
CREATE INDEX messages_failed ON public.messages USING btree (organization_id, campaign_id, failure_class, failure_code) WHERE (failure_class IS NOT NULL);
CREATE INDEX messages_quarantined ON public.messages USING btree (quarantined_at) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX messages_quarantined_of_campaign ON public.messages USING btree (organization_id, campaign_id, quarantined_at, recipient_id) WHERE (quarantined_at IS NOT NULL);
CREATE INDEX operator_sessions_of_operator ON public.operator_sessions USING btree (operator_id);
CREATE UNIQUE INDEX operators_by_name ON public.operators USING btree (name) WHERE (removed_at IS NULL);
CREATE INDEX organization_turns_next ON public.organization_turns USING btree (next_at);
CREATE INDEX recipients_bounced ON public.recipients USING btree (organization_id, campaign_id, bounced_at, id) WHERE (bounced_at IS NOT NULL);
CREATE INDEX recipients_by_update ON public.recipients USING btree (organization_id, updated_at, id);
CREATE INDEX recipients_of_campaign_by_update ON public.recipients USING btree (organization_id, campaign_id, updated_at, id);
CREATE INDEX recipients_waiting ON public.recipients USING btree (organization_id, campaign_id, published_at, id) WHERE ((withdrawn_at IS NULL) AND ((published_at IS NULL) OR ((sent_at IS NULL) AND (bounced_at IS NULL))));
CREATE INDEX recipients_withdrawn ON public.recipients USING btree (organization_id, campaign_id, withdrawn_at, id) WHERE (withdrawn_at IS NOT NULL);
CREATE INDEX replay_jobs_under_way ON public.replay_jobs USING btree (next_at) WHERE ((finished_at IS NULL) AND (cancelled_at IS NULL));
CREATE UNIQUE INDEX restores_under_way ON public.restores USING btree (((finished_at IS NULL))) WHERE (finished_at IS NULL);
CREATE UNIQUE INDEX senders_of_program ON public.senders USING btree (organization_id, COALESCE(program_id, ''::text));
CREATE INDEX sign_in_links_of_operator ON public.sign_in_links USING btree (operator_id);
CREATE INDEX signing_secrets_by_hash ON public.signing_secrets USING btree (hash);
CREATE INDEX signing_secrets_of_endpoint ON public.signing_secrets USING btree (organization_id, endpoint_id);
CREATE INDEX stored_responses_by_age ON public.stored_responses USING btree (created_at);
CREATE INDEX stored_responses_by_bytes ON public.stored_responses USING btree (organization_id, bytes_before);
CREATE INDEX suppressions_by_time ON public.suppressions USING btree (organization_id, program_id, reason, created_at);
CREATE INDEX suppressions_to_apply ON public.suppressions USING btree (created_at) WHERE (applied_at IS NULL);
CREATE INDEX unsubscriptions_of_campaign ON public.unsubscriptions USING btree (organization_id, campaign_id, asked_at, recipient_id);
CREATE INDEX unsubscriptions_to_apply ON public.unsubscriptions USING btree (asked_at) WHERE (suppressed_at IS NULL);
CREATE INDEX unsubscriptions_to_lift ON public.unsubscriptions USING btree (revoked_at) WHERE ((revoked_at IS NOT NULL) AND (lifted_at IS NULL));
CREATE INDEX webhook_endpoints_of_organization ON public.webhook_endpoints USING btree (organization_id, id);
CREATE INDEX webhook_endpoints_removed ON public.webhook_endpoints USING btree (removed_at) WHERE (removed_at IS NOT NULL);

alter table api_keys add constraint api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table audit_results add constraint audit_results_command_id_fkey FOREIGN KEY (command_id) REFERENCES audit_log(id) ON DELETE CASCADE;
alter table campaign_counts add constraint campaign_counts_organization_id_campaign_id_fkey FOREIGN KEY (organization_id, campaign_id) REFERENCES campaigns(organization_id, id);
alter table campaign_domains add constraint campaign_domains_organization_id_campaign_id_fkey FOREIGN KEY (organization_id, campaign_id) REFERENCES campaigns(organization_id, id);
alter table campaigns add constraint campaigns_organization_id_program_id_fkey FOREIGN KEY (organization_id, program_id) REFERENCES programs(organization_id, id);
alter table complaints add constraint complaints_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table dead_letters add constraint dead_letters_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table deliveries add constraint deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table delivery_outcomes add constraint delivery_outcomes_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table digest_funnel add constraint digest_funnel_organization_id_program_id_fkey FOREIGN KEY (organization_id, program_id) REFERENCES programs(organization_id, id);
alter table digest_outreach add constraint digest_outreach_organization_id_program_id_fkey FOREIGN KEY (organization_id, program_id) REFERENCES programs(organization_id, id);
alter table dkim_keys add constraint dkim_keys_organization_id_sender_id_fkey FOREIGN KEY (organization_id, sender_id) REFERENCES senders(organization_id, id) ON DELETE CASCADE;
alter table endpoint_headers add constraint endpoint_headers_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table endpoint_headers add constraint endpoint_headers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table endpoint_readers add constraint endpoint_readers_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table endpoint_readers add constraint endpoint_readers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table erased_clinicians add constraint erased_clinicians_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table erased_events add constraint erased_events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table erasure_keys add constraint erasure_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table erasures add constraint erasures_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table failure_groups add constraint failure_groups_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table hits add constraint hits_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table imports add constraint imports_organization_id_campaign_id_fkey FOREIGN KEY (organization_id, campaign_id) REFERENCES campaigns(organization_id, id);
alter table inbox add constraint inbox_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table inbox add constraint inbox_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table late_refusals add constraint late_refusals_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table link_domains add constraint link_domains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table messages add constraint messages_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table operator_sessions add constraint operator_sessions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);
alter table operators add constraint operators_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table organization_clock add constraint organization_clock_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table programs add constraint programs_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table qualifications add constraint qualifications_organization_id_program_id_fkey FOREIGN KEY (organization_id, program_id) REFERENCES programs(organization_id, id);
alter table recipient_fields add constraint recipient_fields_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table recipient_keys add constraint recipient_keys_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table recipients add constraint recipients_organization_id_campaign_id_fkey FOREIGN KEY (organization_id, campaign_id) REFERENCES campaigns(organization_id, id);
alter table senders add constraint senders_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table senders add constraint senders_organization_id_link_domain_fkey FOREIGN KEY (organization_id, link_domain) REFERENCES link_domains(organization_id, domain);
alter table senders add constraint senders_organization_id_program_id_fkey FOREIGN KEY (organization_id, program_id) REFERENCES programs(organization_id, id);
alter table sign_in_links add constraint sign_in_links_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);
alter table signature_rejections add constraint signature_rejections_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE;
alter table signing_secrets add constraint signing_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table signing_secrets add constraint signing_secrets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table stored_response_totals add constraint stored_response_totals_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table stored_responses add constraint stored_responses_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table suppressions add constraint suppressions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);
alter table unsubscriptions add constraint unsubscriptions_organization_id_recipient_id_fkey FOREIGN KEY (organization_id, recipient_id) REFERENCES recipients(organization_id, id);
alter table webhook_endpoints add constraint webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id);

CREATE TRIGGER audit_chain_is_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.audit_chain FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR TRUNCATE ON public.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE CONSTRAINT TRIGGER audit_log_is_chained AFTER INSERT OR DELETE ON public.audit_log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION chain_audit();
CREATE TRIGGER audit_log_is_not_removed BEFORE DELETE ON public.audit_log FOR EACH STATEMENT WHEN ((current_setting('outreach.removes_audit'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_results_are_append_only BEFORE UPDATE OR TRUNCATE ON public.audit_results FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE CONSTRAINT TRIGGER audit_results_are_chained AFTER INSERT ON public.audit_results DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION chain_audit();
CREATE TRIGGER audit_results_are_not_removed BEFORE DELETE ON public.audit_results FOR EACH STATEMENT WHEN ((current_setting('outreach.removes_audit'::text, true) IS DISTINCT FROM 'on'::text)) EXECUTE FUNCTION refuse_change();
CREATE TRIGGER keep_inbox_key BEFORE INSERT ON public.inbox FOR EACH ROW EXECUTE FUNCTION keep_inbox_key();
CREATE TRIGGER raise_endpoint_versions_insert AFTER INSERT ON public.signing_secrets FOR EACH ROW EXECUTE FUNCTION raise_endpoint_versions();
CREATE TRIGGER raise_endpoint_versions_update AFTER UPDATE OF expires_at ON public.signing_secrets FOR EACH ROW WHEN ((old.expires_at IS DISTINCT FROM new.expires_at)) EXECUTE FUNCTION raise_endpoint_versions();
CREATE TRIGGER raise_version BEFORE UPDATE ON public.webhook_endpoints FOR EACH ROW WHEN ((old.* IS DISTINCT FROM new.*)) EXECUTE FUNCTION raise_version();
