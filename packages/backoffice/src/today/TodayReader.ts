import { CAMPAIGN_STATUSES, DomainPause } from "@outreach/domain/campaigns/Campaign"
import { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { complainedCampaigns } from "@outreach/postgres/campaigns/complainedCampaigns"
import { decodeRow, equal, rowsOf } from "@outreach/postgres/rowsOf"
import { Schema, Struct } from "effect"

/** The figures of the deployment or of one organization that aren't facts about its health. */
const Today = Schema.Struct({
  sending: Schema.Struct({
    /** The campaigns that send and have an open window. */
    campaigns: Schema.Int,
    sentInLastMinute: Schema.Int,
    /** Their remaining e-mails; null without campaigns. */
    remaining: Schema.NullOr(Schema.Int),
  }),
  /** The nearest target of a program: the largest share among unreached targets, otherwise among reached ones; null without targets. */
  quota: Schema.NullOr(
    Schema.Struct({
      organizationId: OrganizationId,
      programId: ProgramId,
      program: Schema.String,
      stage: Schema.Literals(["learner", "completer"]),
      count: Schema.Int,
      target: Schema.Int,
    }),
  ),
  /** Whether there are the objects for a first campaign, with the oldest organization; null once there is a campaign. */
  steps: Schema.NullOr(
    Schema.Struct({
      organization: Schema.NullOr(OrganizationId),
      ...{ key: Schema.Boolean, endpoint: Schema.Boolean, program: Schema.Boolean, sender: Schema.Boolean },
    }),
  ),
})
export type Today = typeof Today.Type

/** A recipient domain that a campaign has paused because it rejects the campaign's e-mails. */
const RefusingDomain = Schema.Struct({ ...DomainPause.fields, campaignId: CampaignId, campaign: Schema.String })

/** A campaign whose complaints of the last seven days have reached a threshold of mailbox providers. */
const ComplainedCampaign = Schema.Struct({
  campaignId: CampaignId,
  campaign: Schema.String,
  status: Schema.Literals(CAMPAIGN_STATUSES),
  sent: Schema.Int,
  complained: Schema.Int,
})

const MAX_REFUSING_DOMAINS = 20

/** An endpoint with only failed calls for a day, or that was disabled for that reason. */
const FailingEndpoint = Schema.Struct({
  ...Struct.pick(Endpoint.fields, ["id", "url", "organizationId", "disabledAt"]),
  failingSince: Timestamp,
  /** Whether its organization has contacts. */
  hasContacts: Schema.Boolean,
})

const MAX_FAILING_ENDPOINTS = 100

const decodeToday = decodeRow(Today.fields)
const refusingDomains = rowsOf(RefusingDomain, { campaign: "name", status: "pause_status", until: "paused_until" })
const complainedRows = rowsOf(ComplainedCampaign, { campaign: "name" })
const failingEndpoints = rowsOf(FailingEndpoint, {
  id: "endpoint.id",
  url: "shown_url(url)",
  organizationId: "endpoint.organization_id",
  hasContacts: "contacts <> '{}'",
})

/** Reads the overview, each part with one statement and without counting a table. */
export const TodayReader = reader("TodayReader", (sql) => {
  /** The condition that a row belongs to the organization; true for the deployment. */
  const isOf = (organizationId: OrganizationId | null, table: string) =>
    equal({ [`${table}.organization_id`]: organizationId ?? undefined })
  return {
    /** Reads the deployment, or one organization. */
    read: (organizationId: OrganizationId | null) =>
      sql`
        select (
          select jsonb_build_object('campaigns', count(*), 'remaining', sum(recipients - withdrawn - quarantined - answered),
            'sentInLastMinute', (
              -- Only few organizations have published events recently.
              select coalesce(sum(each.count), 0) from organization_clock clock cross join lateral (
                select count(*) as count from events
                where events.organization_id = clock.organization_id and type = 'outreach.email_sent'
                  and emitted_at >= statement_timestamp() - interval '1 minute'
              ) each
              where last >= statement_timestamp() - interval '1 minute' and ${isOf(organizationId, "clock")}))
          from campaigns cross join lateral campaign_totals(campaigns.organization_id, id)
          where status = 'sending' and window_start <= statement_timestamp() and window_end > statement_timestamp()
            and ${isOf(organizationId, "campaigns")}
        ) as sending, (
          select jsonb_build_object('organizationId', program.organization_id, 'programId', program.id, 'program', program.name,
            'stage', stage, 'count', count, 'target', target)
          from programs program
          left join lateral (
            select * from digest_funnel
            where organization_id = program.organization_id and program_id = program.id order by date desc limit 1
          ) funnel on true
          cross join lateral (values
            ('learner', learner_target, coalesce(learner_qualified_total, 0)),
            ('completer', completer_target, coalesce(completer_qualified_total, 0))
          ) stage (stage, target, count)
          where target is not null and status <> 'archived' and ${isOf(organizationId, "program")}
          order by count >= target, count::double precision / target desc, program.id, stage limit 1
        ) as quota, (
          select jsonb_build_object('organization', (select min(id) from organizations where ${equal({ id: organizationId ?? undefined })}),
            'key', exists (select from api_keys where ${isOf(organizationId, "api_keys")}),
            'endpoint', exists (select from webhook_endpoints where ${isOf(organizationId, "webhook_endpoints")}),
            'program', exists (select from programs where ${isOf(organizationId, "programs")}),
            'sender', exists (select from senders where ${isOf(organizationId, "senders")}))
          where not exists (select from campaigns where ${isOf(organizationId, "campaigns")})
        ) as steps`.pipe(decodeToday),

    /** Lists domains that reject campaigns, the last rejection first; at most `MAX_REFUSING_DOMAINS`. */
    readRefusingDomains: (organizationId: OrganizationId | null) =>
      sql`
        select ${refusingDomains.columns}
        from campaign_domains kept join campaigns on campaigns.organization_id = kept.organization_id and campaigns.id = campaign_id
        where paused_until > statement_timestamp() and ${isOf(organizationId, "kept")}
        order by paused_until desc, domain limit ${MAX_REFUSING_DOMAINS}`.pipe(refusingDomains.decode),

    /** Lists campaigns with too many complaints, the greatest share first; at most `MAX_REFUSING_DOMAINS`. */
    readComplained: (organizationId: OrganizationId | null) =>
      sql`
        select ${complainedRows.columns}
        from (${complainedCampaigns(sql)}) complained
        join campaigns campaign on campaign.organization_id = complained.organization_id and campaign.id = campaign_id
        where ${isOf(organizationId, "campaign")}
        order by complained::float8 / sent desc, id limit ${MAX_REFUSING_DOMAINS}`.pipe(complainedRows.decode),

    /** Lists endpoints with only failed calls for a day, or disabled for that reason, the longest failing first; at most `MAX_FAILING_ENDPOINTS`. */
    readFailingEndpoints: (organizationId: OrganizationId | null) =>
      sql`
        select ${failingEndpoints.columns}
        from endpoint_readers join webhook_endpoints endpoint on endpoint.id = endpoint_id
        join organizations organization on organization.id = endpoint.organization_id
        where notices > 0 and (enabled or disabled_reason = 'failing') and ${isOf(organizationId, "endpoint")}
        order by failing_since, endpoint.id limit ${MAX_FAILING_ENDPOINTS}`.pipe(failingEndpoints.decode),
  }
})
