import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { ShownUrl } from "@outreach/domain/deliveries/Endpoint"
import { CampaignId, EndpointId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { complainedCampaigns } from "@outreach/postgres/campaigns/complainedCampaigns"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { FAILURE_GROUP_STATES } from "../deliveries/FailureGroupReader.ts"

/** A program's progress towards one of its targets. */
const QuotaProgress = Schema.Struct({
  organizationId: OrganizationId,
  programId: ProgramId,
  program: Schema.String,
  stage: Schema.Literals(["learner", "completer"]),
  count: Schema.Int,
  target: Schema.Int,
})
export type QuotaProgress = typeof QuotaProgress.Type

/** The overview of the deployment or of one organization. */
const Today = Schema.Struct({
  sending: Schema.Struct({
    /** The campaigns that send and have an open window. */
    campaigns: Schema.Int,
    sentInLastMinute: Schema.Int,
    /** Their remaining e-mails; null without campaigns. */
    remaining: Schema.NullOr(Schema.Int),
  }),
  /** Seconds since the oldest delivery to a working endpoint became due; 0 if none is. */
  oldestDueSeconds: Schema.Number,
  /** The enabled endpoints whose breaker is open. */
  breakersOpen: Schema.Int,
  /** Without replayed ones and those of muted failure groups. */
  deadLetters: Schema.Int,
  /** The failing groups, except muted ones. */
  failing: Schema.Int,
  inboxQuarantined: Schema.Int,
  /** The recipient domains that are paused by a campaign because they reject it. */
  domainsRefusing: Schema.Int,
  /** The running workers; null for one organization. */
  workers: Schema.NullOr(Schema.Int),
  /** The nearest target: the largest share among unreached targets, otherwise among reached ones; null without targets. */
  quota: Schema.NullOr(QuotaProgress),
})
export type Today = typeof Today.Type

/** A recipient domain that a campaign has paused because it rejects the campaign's e-mails. */
const RefusingDomain = Schema.Struct({
  domain: Schema.String,
  campaignId: CampaignId,
  campaign: Schema.String,
  /** The SMTP status of the rejection, such as `5.7.1`. */
  status: Schema.String,
  until: Timestamp,
})
export type RefusingDomain = typeof RefusingDomain.Type

/** A campaign whose complaints of the last seven days have reached a threshold of mailbox providers. */
const ComplainedCampaign = Schema.Struct({
  campaignId: CampaignId,
  campaign: Schema.String,
  status: Schema.Literals(CAMPAIGN_STATUSES),
  sent: Schema.Int,
  complained: Schema.Int,
})

export const MAX_REFUSING_DOMAINS = 20

/** An endpoint with only failed calls for a day, or that was disabled for that reason. */
const FailingEndpoint = Schema.Struct({
  id: EndpointId,
  url: ShownUrl,
  organizationId: OrganizationId,
  failingSince: Timestamp,
  /** When it was disabled; null if it is still called. */
  disabledAt: Schema.NullOr(Timestamp),
  /** Whether its organization has contacts. */
  hasContacts: Schema.Boolean,
})

const MAX_FAILING_ENDPOINTS = 100

const decodeToday = decodeRows({ today: Today })
const decodeDomains = decodeRows(RefusingDomain.fields)
const decodeComplained = decodeRows(ComplainedCampaign.fields)
const decodeFailing = decodeRows(FailingEndpoint.fields)

/** Reads the overview, each part with one statement and without counting a table. */
export class TodayReader extends DatabaseService<TodayReader>()("backoffice/today/TodayReader", (sql) => ({
  /** Reads the deployment, or one organization. */
  read: Effect.fnUntraced(function* (organizationId: OrganizationId | null) {
    const rows = yield* sql`
      with quota as (
        select program.organization_id, program.id, program.name, stage.*
        from programs program
        left join lateral (
          select * from digest_funnel
          where organization_id = program.organization_id and program_id = program.id order by date desc limit 1
        ) funnel on true
        cross join lateral (values
          ('learner', learner_target, coalesce(learner_qualified_total, 0)),
          ('completer', completer_target, coalesce(completer_qualified_total, 0))
        ) stage (stage, target, count)
        where target is not null and status <> 'archived'
          and (${organizationId}::text is null or program.organization_id = ${organizationId})
        order by count >= target, count::double precision / target desc, program.id, stage limit 1
      ), endpoint as materialized (
        select endpoint.id, endpoint.organization_id, event_types, allowance, begun_at, begun_id, last > begun_at as behind
        from webhook_endpoints endpoint
        join endpoint_readers reader on reader.endpoint_id = endpoint.id
        cross join lateral reader_position(endpoint.id) position
        join organization_clock clock on clock.organization_id = endpoint.organization_id
        where enabled and (${organizationId}::text is null or endpoint.organization_id = ${organizationId})
      ), gauges as (
        select
          -- Only few organizations have published events recently.
          (select coalesce(sum(each.count), 0)::int from organization_clock clock cross join lateral (
            select count(*) as count from events
            where events.organization_id = clock.organization_id and type = 'outreach.email_sent'
              and emitted_at >= statement_timestamp() - interval '1 minute'
          ) each
          where last >= statement_timestamp() - interval '1 minute'
            and (${organizationId}::text is null or clock.organization_id = ${organizationId})) as sent,
          (select min(least(row.due_at, log.emitted_at)) from endpoint
          left join lateral (
            select due_at from deliveries
            where endpoint_id = endpoint.id and not replay and owner is null and due_at <= statement_timestamp()
            order by due_at limit 1
          ) row on true
          left join lateral (
            select emitted_at from events_after(endpoint.organization_id, event_types, begun_at, begun_id, 'infinity', 1)
            where behind
          ) log on true
          where allowance is null) as oldest_due_at,
          (select count(*)::int from endpoint where allowance is not null) as breakers_open,
          (select coalesce(sum(open), 0)::int from failure_groups
          where open > 0 and muted_at is null
            and (${organizationId}::text is null or failure_groups.organization_id = ${organizationId})) as dead_letters,
          (select count(*)::int from (select from inbox
            where quarantined_at is not null and (${organizationId}::text is null or inbox.organization_id = ${organizationId})
            limit ${COUNT_CAP}) quarantined) as inbox_quarantined,
          (select count(distinct domain)::int from domain_pauses
          where until > statement_timestamp()
            and (${organizationId}::text is null or domain_pauses.organization_id = ${organizationId})) as domains_refusing
      )
      select jsonb_build_object(
        'sending', (
          select jsonb_build_object('sentInLastMinute', gauges.sent, 'campaigns', count(*), 'remaining',
            sum(recipients - withdrawn - quarantined - answered))
          from campaigns cross join lateral campaign_totals(campaigns.organization_id, id)
          where status = 'sending' and window_start <= statement_timestamp() and window_end > statement_timestamp()
            and (${organizationId}::text is null or campaigns.organization_id = ${organizationId})),
        'oldestDueSeconds', coalesce(greatest(0, extract(epoch from statement_timestamp() - oldest_due_at)), 0),
        'breakersOpen', breakers_open, 'deadLetters', dead_letters, 'inboxQuarantined', inbox_quarantined,
        'domainsRefusing', domains_refusing,
        'failing', (
          select count(*) from failure_groups
          where ${sql.literal(FAILURE_GROUP_STATES.lasting)} and (${organizationId}::text is null or failure_groups.organization_id = ${organizationId})),
        'workers', case when ${organizationId}::text is null then (
          select count(*) from delivery_workers where alive_until > statement_timestamp() and not stopping) end,
        'quota', (select jsonb_build_object('organizationId', quota.organization_id, 'programId', id, 'program', name,
          'stage', stage, 'count', count, 'target', target) from quota)
      ) as today
      from gauges`.pipe(decodeToday)
    return rows[0]!.today
  }),

  /** Lists domains that reject campaigns, the last rejection first; at most `MAX_REFUSING_DOMAINS`. */
  readRefusingDomains: (organizationId: OrganizationId | null) =>
    sql`
      select domain, campaign_id as "campaignId", name as campaign, pause.status, until
      from domain_pauses pause join campaigns on campaigns.organization_id = pause.organization_id and campaigns.id = campaign_id
      where until > statement_timestamp() and (${organizationId}::text is null or pause.organization_id = ${organizationId})
      order by paused_at desc, domain limit ${MAX_REFUSING_DOMAINS}`.pipe(decodeDomains),

  /** Lists campaigns with too many complaints, the greatest share first; at most `MAX_REFUSING_DOMAINS`. */
  readComplained: (organizationId: OrganizationId | null) =>
    sql`
      select id as "campaignId", name as campaign, status, sent, complained
      from (${complainedCampaigns(sql)}) complained
      join campaigns campaign on campaign.organization_id = complained.organization_id and campaign.id = campaign_id
      where ${organizationId}::text is null or campaign.organization_id = ${organizationId}
      order by complained::float8 / sent desc, id limit ${MAX_REFUSING_DOMAINS}`.pipe(decodeComplained),

  /** Lists endpoints with only failed calls for a day, or disabled for that reason, the longest failing first; at most `MAX_FAILING_ENDPOINTS`. */
  readFailingEndpoints: (organizationId: OrganizationId | null) =>
    sql`
      select endpoint.id, shown_url(url) as url, endpoint.organization_id as "organizationId", failing_since as "failingSince",
        disabled_at as "disabledAt", contacts <> '{}' as "hasContacts"
      from endpoint_readers join webhook_endpoints endpoint on endpoint.id = endpoint_id
      join organizations organization on organization.id = endpoint.organization_id
      where notices > 0 and (enabled or disabled_reason = 'failing')
        and (${organizationId}::text is null or organization.id = ${organizationId})
      order by failing_since, endpoint.id limit ${MAX_FAILING_ENDPOINTS}`.pipe(decodeFailing),
})) {}
