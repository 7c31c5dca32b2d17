import {
  CAMPAIGN_STATUSES,
  type CampaignKey,
  CampaignProgress,
  ListedCampaign,
} from "@outreach/domain/campaigns/Campaign"
import { type OrganizationId, RecipientId, type SenderId } from "@outreach/domain/Identifier"
import { LATE_REFUSAL_CAUSES } from "@outreach/domain/mail/returned/Bounces"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { allOf, decodeRows, decodeValue, equal, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Schema, Struct } from "effect"
import { choice, type FilterOf, field, filterBy } from "../operations/Field.ts"
import type { Direction } from "../operations/List.ts"

/** The conditions of a list of campaigns, all of which must match. */
export const campaignFilters = {
  organizationId: filterBy.organization,
  programId: filterBy.program,
  status: choice("Status", CAMPAIGN_STATUSES, { all: "All" }),
  kind: choice("Kind", ["traffic", "survey"], { all: "All" }),
  text: field(Schema.String, "Name contains", { size: 16, hint: "Case-insensitive" }),
}

interface CampaignFilter extends FilterOf<typeof campaignFilters> {
  /** Only campaigns that currently use this sender. */
  readonly senderId?: SenderId
  readonly after?: Pick<ListedCampaign, "id"> | null
  readonly direction?: Direction
}

export const CampaignTotals = Schema.Struct({
  ...Struct.pick(CampaignProgress.fields, ["recipients", "published", "withdrawn", "sent", "bounced", "answered"]),
  ...Struct.pick(CampaignProgress.fields, ["quarantined", "refusedLater", "complained", "unsubscribed"]),
  /** Recipients who opened and clicked: all, and those who are not suspected bots. */
  opened: Schema.Int,
  clicked: Schema.Int,
  unsuspectedOpened: Schema.Int,
  unsuspectedClicked: Schema.Int,
  /** Recipients who reached a stage after the e-mail. */
  accounts: Schema.Int,
  learners: Schema.Int,
  completers: Schema.Int,
})
export type CampaignTotals = typeof CampaignTotals.Type

const CampaignWithTotals = Schema.Struct({
  ...ListedCampaign.fields,
  programName: Schema.String,
  organizationName: Schema.String,
  totals: CampaignTotals,
})
export type CampaignWithTotals = typeof CampaignWithTotals.Type

/** Bounces at a recipient domain by reason. */
export const DomainBounces = Schema.Struct({
  mailboxNotFound: Schema.Int,
  mailboxDisabled: Schema.Int,
  domainNotFound: Schema.Int,
  addressInvalid: Schema.Int,
  other: Schema.Int,
})

/** The outcomes of a campaign at a recipient domain. */
const CampaignDomain = Schema.Struct({
  domain: Schema.String,
  sent: Schema.Int,
  deferred: Schema.Int,
  refused: Schema.Int,
  ...DomainBounces.fields,
  pausedUntil: Schema.NullOr(Timestamp),
  /** The last reply to a rejected message, from `cleanSmtpReply`. */
  lastReply: Schema.NullOr(Schema.String),
  lastReplyAt: Schema.NullOr(Timestamp),
})
export type CampaignDomain = typeof CampaignDomain.Type

/** Messages to a domain that were accepted and refused later, without a hard bounce. */
const LateRefusalCount = Schema.Struct({
  /** Null for all domains. */
  domain: Schema.NullOr(Schema.String),
  cause: Schema.Literals(LATE_REFUSAL_CAUSES),
  messages: Schema.Int,
})
export type LateRefusalCount = typeof LateRefusalCount.Type

const CampaignHour = Schema.Struct({ hour: Timestamp, sent: Schema.Int, bounced: Schema.Int })
export type CampaignHour = typeof CampaignHour.Type

const { json: totals } = rowsOf(CampaignTotals)
const listed = rowsOf(CampaignWithTotals, { totals })
const decodeTotals = decodeValue({ totals: CampaignTotals })
const decodeNames = decodeRows(Struct.pick(ListedCampaign.fields, ["id", "name"]))
const decodeHours = decodeRows(CampaignHour.fields)
const domains = rowsOf(CampaignDomain, {
  pausedUntil: "case when paused_until > statement_timestamp() then paused_until end",
})
const decodeLateRefusals = decodeRows(LateRefusalCount.fields)
const decodeSamples = decodeRows({ id: RecipientId, email: Schema.String })

/** Reads campaigns with their counts, at a cost that doesn't depend on the recipients. */
export const CampaignReader = reader("CampaignReader", (sql) => ({
  /** Lists campaigns without their bodies, by default newest first. */
  list: ({ direction = "desc", after, senderId, text, ...filter }: CampaignFilter, limit: number) => {
    const { organizationId, programId, status, kind } = filter
    const order = (table: string) => keyset({ id: `${table}.id` }, direction)
    return sql`
      select ${listed.columnsOf("campaign")} from (
        select campaigns.*, programs.name as program_name, organizations.name as organization_name
        from campaigns
        join programs using (organization_id)
        join organizations on organizations.id = organization_id
        where programs.id = program_id
          and ${allOf(
            equal({ organization_id: organizationId, program_id: programId, "campaigns.status": status, kind }),
            text === undefined ? undefined : sql`strpos(lower(campaigns.name), lower(${text})) > 0`,
            senderId &&
              sql`(select sender_id from sender_of(campaigns.organization_id, campaigns.program_id)) = ${senderId}`,
            order("campaigns").after(after),
          )}
        order by ${order("campaigns").order} limit ${limit}
      ) campaign
      cross join lateral campaign_totals(campaign.organization_id, campaign.id)
      order by ${order("campaign").order}`.pipe(listed.decode)
  },

  /** Lists the names of campaigns of one organization or all, newest first. */
  names: (organizationId: OrganizationId | undefined, limit: number) =>
    sql`
      select id, name from campaigns
      where ${equal({ organization_id: organizationId })} order by id desc limit ${limit}`.pipe(decodeNames),

  totals: ({ organizationId, campaignId }: CampaignKey) =>
    sql`
      select ${sql.literal(totals)} as totals from campaign_totals(${organizationId}, ${campaignId})`.pipe(
      decodeTotals,
    ),

  /** Reads the number of e-mails sent in each hour, oldest hour first. */
  hours: ({ organizationId, campaignId }: CampaignKey) =>
    sql`
      select hour, sum(sent)::int as sent, sum(bounced)::int as bounced from (
        select hour, sent, bounced from campaign_counts where organization_id = ${organizationId} and campaign_id = ${campaignId}
        union all
        select hour, sent, bounced from campaign_count_changes where organization_id = ${organizationId} and campaign_id = ${campaignId}
      ) each
      group by hour having sum(sent) <> 0 or sum(bounced) <> 0 order by hour`.pipe(decodeHours),

  /** Reads the domains with the most outcomes, currently paused domains first. */
  domains: ({ organizationId, campaignId }: CampaignKey, limit: number) =>
    sql`
      with paused as materialized (
        select * from campaign_domains
        where organization_id = ${organizationId} and campaign_id = ${campaignId} and paused_until > statement_timestamp()
        order by paused_until limit ${limit}
      ), answered as materialized (
        select * from campaign_domains
        where organization_id = ${organizationId} and campaign_id = ${campaignId} and size > 0
        order by size desc limit ${limit}
      )
      select ${domains.columns}
      from (select * from paused union all select * from answered where domain <> all (select domain from paused)) found
      order by coalesce(paused_until > statement_timestamp(), false) desc, sent + deferred + refused desc, domain limit ${limit}`.pipe(
      domains.decode,
    ),

  /** Reads the late refusals by cause, then by domain and cause, the most first. */
  lateRefusals: ({ organizationId, campaignId }: CampaignKey, limit: number) =>
    sql`
      select domain, cause, count(*)::int as messages
      from late_refusals refusal
      join recipients recipient on recipient.organization_id = refusal.organization_id and id = recipient_id
      cross join lateral (select lower(split_part(email, '@', -1)) collate "C" as domain) address
      where refusal.organization_id = ${organizationId} and refusal.campaign_id = ${campaignId} and bounced_at is null
      group by grouping sets ((cause), (domain, cause))
      order by domain is not null, messages desc, domain, cause limit ${limit}`.pipe(decodeLateRefusals),

  /** Reads some recipients for a preview. */
  samples: ({ organizationId, campaignId }: CampaignKey, limit: number) =>
    sql`
      select id, email from recipients
      where organization_id = ${organizationId} and campaign_id = ${campaignId} and erased_at is null and withdrawn_at is null
      order by updated_at, id limit ${limit}`.pipe(decodeSamples),
}))
