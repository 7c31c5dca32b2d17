import { EndpointId } from "@outreach/domain/Identifier"
import { failureGroupsOf } from "@outreach/postgres/deliveries/failureGroupsOf"
import { KEY_RECIPIENTS } from "@outreach/testing/outreachOn"
import type postgres from "postgres"
import { seedHistory } from "./seedHistory.ts"

/** The size of the data. */
export interface Sizes {
  readonly recipients: number
  readonly events: number
  readonly deadLetters: number
}

/** The number of organizations that share the data. The first has half of it. */
const ORGANIZATIONS = 8
const CAMPAIGNS_EACH = 12
const DAYS = 30

const toHex = (n: number) => n.toString(16).padStart(32, "0")

/** The groups of failures of an endpoint. */
const causesOf = (endpointId: EndpointId) =>
  [500, 501, 502, 503].map((status) => {
    const { exact } = failureGroupsOf(endpointId, { status, outcome: "http_error", response: "upstream error 1" })
    return { id: exact.id, failure_group: exact }
  })

/** Fills a migrated database with a month of data. */
export async function seed(sql: postgres.Sql, { recipients, events, deadLetters }: Sizes): Promise<void> {
  const causes = Array.from({ length: ORGANIZATIONS }, (_, n) =>
    causesOf(EndpointId.make(`whe_${toHex(n + 1)}`)),
  ).flat()
  await sql`select setseed(0.5)`
  await sql`
    create temporary table shares as
    select n, 'org_' || lpad(to_hex(n), 32, '0') as organization, 'pgm_' || lpad(to_hex(n), 32, '0') as program,
      'whe_' || lpad(to_hex(n), 32, '0') as endpoint, case n when 1 then 0.5 else 0.5 / ${ORGANIZATIONS - 1}::float end as share
    from generate_series(1, ${ORGANIZATIONS}::int) n`
  await sql`insert into organizations (id, name) select organization, 'Partner ' || n from shares`
  await sql`
    insert into organization_clock (organization_id, last) select organization, clock_timestamp() from shares`
  await sql`
    insert into programs (organization_id, id, slug, name, learner_target, completer_target, sender_name, postal_address)
    select organization, program, 'program-' || n, 'Program ' || n, 5000, 1000, 'Acme Health', '1 Main Street, Springfield, IL 62701' from shares`
  await sql`
    insert into senders (organization_id, id, from_name, from_address, dkim_domain, live_since)
    select organization, 'snd_' || lpad(to_hex(n), 32, '0'), 'Acme Health', 'outreach@partner' || n || '.test',
      'partner' || n || '.test', clock_timestamp() from shares`
  await sql`
    insert into campaigns (organization_id, id, program_id, name, kind, status, subject, html, window_start, window_end)
    select organization, 'cmp_' || lpad(to_hex(n * 100 + c), 32, '0'), program, 'Campaign ' || c, 'traffic',
      case c when 1 then 'sending' when 2 then 'paused' when 3 then 'draft' else 'completed' end, 'An invitation',
      '<p>{{ sender_name }} {{ postal_address }} <a href="{{ unsubscribe_url }}">unsubscribe</a></p>',
      clock_timestamp() - interval '20 days', clock_timestamp() + interval '10 days'
    from shares cross join generate_series(1, ${CAMPAIGNS_EACH}::int) c`
  await sql`
    insert into webhook_endpoints (id, organization_id, url)
    select endpoint, organization, 'https://partner' || n || '.test/hooks' from shares`
  await sql`
    insert into endpoint_readers (endpoint_id, organization_id) select endpoint, organization from shares`
  await sql`
    insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
    select organization, endpoint, clock_timestamp() - interval '1 hour', '~' from shares`
  // The first campaign of each organization has half of its recipients.
  await sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at, published_at,
      sent_at, bounced_at, last_event_at)
    select organization, 'rcp_' || lpad(to_hex(n), 8, '0') || lpad(to_hex(r), 24, '0'),
      'cmp_' || lpad(to_hex(n * 100 + case when r % 2 = 0 then 1 else 1 + r % ${CAMPAIGNS_EACH}::int end), 32, '0'), program,
      (select string_agg(substr('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
        1 + (r::bigint * 30817200007 % 56800235584 / (62 ^ place)::bigint % 62)::int, 1), '') from generate_series(0, 5) as place),
      (1000000000 + r * 8)::text, 'clinician' || r || '@hospital-' || r % 997 || '.test', stamp - interval '1 day', stamp,
      stamp - interval '1 hour', case when r % 10 < 9 then stamp end, case when r % 40 = 0 then stamp end, stamp
    from shares cross join lateral generate_series(1, (${recipients}::int * share)::int) r
    cross join lateral (select clock_timestamp() - random() * interval '${sql.unsafe(String(DAYS))} days' as stamp) at`
  await sql.unsafe(KEY_RECIPIENTS)
  await sql`
    insert into campaign_counts (organization_id, campaign_id, hour, recipients, published, sent, bounced, answered, opened, unsuspected_opened)
    select organization_id, campaign_id, date_trunc('hour', updated_at, 'UTC') as hour, count(*), count(published_at), count(sent_at),
      count(bounced_at), count(coalesce(sent_at, bounced_at)), count(sent_at) / 3, count(sent_at) / 4
    from recipients group by organization_id, campaign_id, hour`
  await sql`
    insert into campaign_domains (organization_id, campaign_id, domain, sent, mailbox_not_found, last_reply, last_reply_at)
    select organization_id, campaign_id, split_part(email, '@', 2), count(sent_at), count(bounced_at), '550 5.1.1 No such user', max(bounced_at)
    from recipients group by organization_id, campaign_id, 3 on conflict do nothing`
  await sql`
    insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body)
    select organization, 'evt_' || lpad(to_hex((extract(epoch from stamp) * 1000)::bigint), 12, '0') || lpad(to_hex(e), 20, '0'),
      (array['outreach.email_sent', 'outreach.email_opened', 'outreach.email_clicked', 'outreach.email_sent', 'outreach.email_bounced'])[1 + e % 5],
      'cmp_' || lpad(to_hex(n * 100 + 1 + e % ${CAMPAIGNS_EACH}::int), 32, '0'), program,
      'rcp_' || lpad(to_hex(n), 8, '0') || lpad(to_hex(1 + e % (${recipients}::int * share)::int), 24, '0'), stamp, stamp,
      '{"object":"event","livemode":false,"event_version":1,"source":"service","data":{"is_bot_suspected":false},"metadata":null}'
    from shares cross join lateral generate_series(1, (${events}::int * share)::int) e
    cross join lateral (select clock_timestamp() - (1 - e / (${events}::int * share)) * interval '${sql.unsafe(String(DAYS))} days' as stamp) at`
  // Most failures are at one partner, with few causes; each event has at most one dead letter.
  await sql`
    with cause as (
      select id as group_id, failure_group->>'endpointId' as endpoint_id, (failure_group->>'status')::int as status, failure_group
      from jsonb_to_recordset(${JSON.stringify(causes)}::text::jsonb) as given (id text, failure_group jsonb)
    ), dead as (
      insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at, finished_at)
      select organization, 'dlv_' || substr(event.id, 5), endpoint, event.id, case when rank % 3 = 0 then 'rejected' else 'exhausted' end,
        jsonb_build_array(jsonb_build_object('number', 1, 'startedAt', to_char(emitted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'latencyMs', 120, 'status', status,
          'outcome', 'http_error', 'response', 'upstream error ' || rank % 25)), group_id, emitted_at, emitted_at + interval '1 minute'
      from shares cross join lateral (
        select id, emitted_at, row_number() over () as rank from events
        where organization_id = organization order by emitted_at desc limit (${deadLetters}::int * share)::int
      ) event
      join cause on endpoint_id = endpoint and status = 500 + rank % 4
      returning *
    ), outcomes as (
      insert into delivery_outcomes (organization_id, endpoint_id, at, dead_letters)
      select organization_id, endpoint_id, date_bin('5 minutes', finished_at, 'epoch') as at, count(*) from dead
      group by organization_id, endpoint_id, 3
    )
    select count_failures(jsonb_agg(change)) from (
      select organization_id, group_id, finished_at as at, 1 as failures, reason, 1 as opened, 1 as stored, failure_group from dead join cause using (group_id)
    ) change`
  await sql`
    insert into suppressions (organization_id, program_id, kind, value, reason, created_at)
    select organization, program, 'email', 'gone' || r || '@hospital.test', 'operator', clock_timestamp() - random() * interval '30 days'
    from shares cross join lateral generate_series(1, (${recipients}::int * share / 10)::int) r`
  await sql`
    insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, npi, body, received_at, applied_at, quarantined_at, reason)
    select organization, 'in-' || r, endpoint, 'sec_' || repeat('0', 32), 'clinician.account_created', (1000000000 + r * 8)::text, '{}', stamp,
      case when r % 100 > 0 then stamp end, case when r % 100 = 0 then stamp end, case when r % 100 = 0 then 'unknown_token' end
    from shares cross join lateral generate_series(1, (${events}::int * share / 20)::int) r
    cross join lateral (select clock_timestamp() - random() * interval '${sql.unsafe(String(DAYS))} days' as stamp) at`
  await sql`
    insert into digest_outreach (organization_id, program_id, date, recipients_published, sent, bounced, opened, clicked)
    select organization, program, current_date - d, 2000, 1900, 40, 700, 120 from shares cross join generate_series(0, ${DAYS}::int) d`
  await sql`
    insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
      account_created_total, learner_qualified_total, completer_qualified_total)
    select organization, program, current_date - d, 40, 25, 5, (${DAYS}::int - d) * 40, (${DAYS}::int - d) * 25, (${DAYS}::int - d) * 5
    from shares cross join generate_series(0, ${DAYS}::int) d`
  await sql`
    insert into campaign_domains (organization_id, campaign_id, domain, pause_status, paused_until)
    select organization, 'cmp_' || lpad(to_hex(n * 100 + 1), 32, '0'), 'hospital-' || d || '.test', '5.7.1', clock_timestamp() + interval '1 hour'
    from shares cross join generate_series(1, 100) d
    on conflict (organization_id, campaign_id, domain) do update set pause_status = excluded.pause_status, paused_until = excluded.paused_until`
  await sql`
    insert into audit_log (operator, os_user, host, command, arguments, objects, organizations)
    select 'Benchmark', 'root', 'host', 'campaigns pause', '{}', '{}', array[organization] from shares cross join generate_series(1, 2500)`
  await seedHistory(sql)
  await sql`vacuum analyze`
  await sql`checkpoint`
}
