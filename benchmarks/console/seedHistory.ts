import type postgres from "postgres"

/** The number of days that successful deliveries are kept; they are most of the rows. */
const DAYS_DELIVERED = 7

/** Adds the history of a month in addition to the events: deliveries, their outcomes, requests, replays and commands. */
export async function seedHistory(sql: postgres.Sql): Promise<void> {
  // Deliveries within 8 seconds share a row.
  await sql`
    insert into delivered (organization_id, id, endpoint_id, first_id, deliveries, finished_at)
    select organization_id, max(delivery_id), endpoint_id, min(delivery_id), json_agg(json_build_object(
      'id', delivery_id, 'eventId', event_id, 'attempt', json_build_object('number', 1,
        'startedAt', to_char(emitted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'latencyMs', 120, 'status', 200, 'outcome', 'delivered', 'response', null)) order by delivery_id), max(emitted_at)
    from (
      select event.organization_id, endpoint_id, event.id as event_id, emitted_at, delivery_id(event.id, endpoint_id) as delivery_id
      from reader_positions position join events event on event.organization_id = position.organization_id
        and emitted_at >= begun_at - make_interval(days => ${DAYS_DELIVERED}::int) and emitted_at < begun_at
      where not exists (
        select from dead_letters dead where dead.organization_id = event.organization_id and dead.id = 'dlv_' || substr(event.id, 5))
    ) each
    group by organization_id, endpoint_id, date_bin('8 seconds', emitted_at, 'epoch')`
  // Twelve more endpoints of the first organization that no longer receive events.
  await sql`
    insert into webhook_endpoints (id, organization_id, url)
    select 'whe_' || lpad(to_hex(100 + n), 32, '0'), min(organizations.id), 'https://quiet' || n || '.test/hooks'
    from organizations cross join generate_series(1, 12) n group by n`
  await sql`
    insert into endpoint_readers (endpoint_id, organization_id)
    select id, organization_id from webhook_endpoints on conflict do nothing`
  await sql`
    insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
    select organization_id, id, last, '~' from webhook_endpoints join organization_clock using (organization_id)
    where id not in (select endpoint_id from reader_positions)`
  // In intervals of five minutes for two days, and hourly before.
  await sql`
    insert into delivery_outcomes (organization_id, endpoint_id, at, seconds, delivered, client_errors, server_errors, latencies)
    select organization_id, id, at, seconds, 40 + random() * 100, random() * 3, random() * 5, '{0,0,1,2,5,9,20,30,9,4,2,1,1,0,0,0,1,0,0,1}'
    from webhook_endpoints cross join (
      select date_bin('5 minutes', clock_timestamp(), 'epoch') - s * interval '5 minutes' as at, 300 as seconds from generate_series(0, 575) s
      union all
      select date_trunc('hour', clock_timestamp()) - s * interval '1 hour', 3600 from generate_series(49, 720) s
    ) steps
    on conflict do nothing`
  await sql`
    insert into api_keys (id, organization_id, name, scopes, hash, prefix, last_four, last_used_at)
    select 'key_' || lpad(to_hex(n), 8, '0') || substr(id, 13), id, 'Key ' || n, '{}', sha256((id || n)::bytea), 'sk_live_', '0000', clock_timestamp()
    from organizations cross join generate_series(1, 3) n`
  await sql`
    insert into replay_jobs (endpoint_id, rate, total, replayed, after_at, before_at, next_at, created_at, finished_at)
    select id, 100, 2000, 2000, at, at, at, at, at + interval '20 seconds'
    from webhook_endpoints cross join lateral (select clock_timestamp() - random() * interval '30 days' as at) once`
  await sql`
    insert into message_attempts (organization_id, recipient_id, number, outcome, reply)
    select organization_id, id, number, case number when 3 then 'accepted' else 'deferred' end, '451 4.7.1 try again later'
    from recipients cross join generate_series(1, 3) number where id like '%00' on conflict do nothing`
  await sql`
    with begun as (
      insert into audit_log (operator, os_user, host, command, arguments, objects, organizations, begun_at)
      select 'Benchmark', 'root', 'host', 'campaigns ' || (array['pause', 'resume', 'show'])[1 + e % 3], '{}', '{}', array[id], clock_timestamp()
      from organizations cross join generate_series(1, 35000) e
      returning id
    )
    insert into audit_results (command_id, result, code)
    select id, case when rank % 1000 = 0 then 'failed' else 'succeeded' end, case when rank % 1000 = 0 then 'CampaignNotFound' end
    from (select id, row_number() over () as rank from begun) each`
}
