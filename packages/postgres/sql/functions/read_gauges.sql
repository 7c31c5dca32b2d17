-- Reads the gauges of one organization, or of all: a row for each that has something to show, and one with an empty id for all of them together.
--
-- E-mails are counted from `sent_from` on. Each part is the range of an index that holds what is wrong, or a small table: dead letters are summed over
-- their groups, except muted ones.
create or replace function read_gauges(
  only_organization text, sent_from timestamptz, sent_before timestamptz default 'infinity'
)
returns table (
  organization_id text, sent integer, oldest_due_at timestamptz, breakers_open integer, dead_letters integer,
  inbox_quarantined integer, domains_refusing integer
)
language sql stable as $$
  with endpoint as materialized (
    select endpoint.id, endpoint.organization_id, event_types, allowance, begun_at, begun_id, last > begun_at as behind
    from webhook_endpoints endpoint
    join endpoint_readers reader on reader.endpoint_id = endpoint.id
    cross join lateral reader_position(endpoint.id) position
    join organization_clock clock on clock.organization_id = endpoint.organization_id
    where enabled and (only_organization is null or endpoint.organization_id = only_organization)
  ), gauge (organization_id, sent, due_at, breaker, dead_letters, quarantined, domain) as (
    select clock.organization_id, each.count, null::timestamptz, null::text, null::integer, null::text, null::text
    from organization_clock clock cross join lateral (
      select count(*) as count from events
      where events.organization_id = clock.organization_id and type = 'outreach.email_sent'
        and emitted_at >= sent_from and emitted_at < sent_before
    ) each
    -- Few of many organizations have published anything of late.
    where last >= sent_from and each.count > 0 and (only_organization is null or clock.organization_id = only_organization)
    union all
    select endpoint.organization_id, null, least(row.due_at, log.emitted_at), null, null, null, null
    from endpoint
    left join lateral (
      select due_at from deliveries
      where endpoint_id = endpoint.id and not replay and owner is null and due_at <= statement_timestamp()
      order by due_at limit 1
    ) row on true
    left join lateral (
      select emitted_at from events_after(endpoint.organization_id, event_types, begun_at, begun_id, 'infinity', 1)
      where behind
    ) log on true
    where allowance is null and (row.due_at is not null or log.emitted_at is not null)
    union all
    select endpoint.organization_id, null, null, endpoint.id, null, null, null from endpoint where allowance is not null
    union all
    select failure_groups.organization_id, null, null, null, open, null, null from failure_groups
    where open > 0 and muted_at is null and (only_organization is null or failure_groups.organization_id = only_organization)
    union all
    (select inbox.organization_id, null, null, null, null, event_id, null from inbox
      where quarantined_at is not null and (only_organization is null or inbox.organization_id = only_organization)
      limit 10000)
    union all
    select domain_pauses.organization_id, null, null, null, null, null, domain from domain_pauses
    where until > statement_timestamp() and (only_organization is null or domain_pauses.organization_id = only_organization)
  )
  select coalesce(gauge.organization_id, ''), coalesce(sum(sent), 0)::int, min(due_at), count(breaker)::int,
    coalesce(sum(gauge.dead_letters), 0)::int, count(quarantined)::int, count(distinct domain)::int
  from gauge group by grouping sets ((gauge.organization_id), ())
$$;
