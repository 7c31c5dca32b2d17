import { CalendarDate } from "@outreach/domain/digest/Digest"
import { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { allOf, columnOf, equal, only, rowsOf } from "@outreach/postgres/rowsOf"
import { Record, Schema, Struct } from "effect"
import { CampaignTotals, DomainBounces } from "../campaigns/CampaignReader.ts"
import { choice, field, filterBy } from "../operations/Field.ts"

const GROUPINGS = ["organization", "program", "campaign"] as const

/** The filters of the console's numbers. Default: today's numbers by program. */
export const numberFilters = {
  organizationId: filterBy.organization,
  programId: filterBy.program,
  by: choice("Group by", GROUPINGS),
  from: field(CalendarDate, "From (UTC)", { kind: "date" }),
  to: field(CalendarDate, "To", { kind: "date" }),
}

export const Numbers = Schema.Struct({
  ...Struct.pick(CampaignTotals.fields, ["published", "sent", "bounced", "opened", "unsuspectedOpened"]),
  ...Struct.pick(CampaignTotals.fields, ["clicked", "unsuspectedClicked"]),
  /** Clinicians at their first time in a program, as in the digest; for a campaign, its recipients after the e-mail. */
  ...Struct.pick(CampaignTotals.fields, ["accounts", "learners", "completers"]),
  ...Struct.pick(CampaignTotals.fields, ["complained", "unsubscribed"]),
})
export type Numbers = typeof Numbers.Type
export type NumberName = keyof Numbers
export const NUMBER_NAMES = Struct.keys(Numbers.fields)

export type Grouping = (typeof GROUPINGS)[number]

/** UTC dates, from the first to the last. */
export interface Period {
  readonly from: CalendarDate
  readonly to: CalendarDate
}

export interface NumbersFilter {
  readonly organizationId?: OrganizationId | undefined
  readonly programId?: ProgramId | undefined
}

const Group = Schema.Struct({
  organizationId: Schema.NullOr(OrganizationId),
  organization: Schema.NullOr(Schema.String),
  programId: Schema.NullOr(ProgramId),
  program: Schema.NullOr(Schema.String),
  campaignId: Schema.NullOr(CampaignId),
  campaign: Schema.NullOr(Schema.String),
  ...Numbers.fields,
})
export type NumbersGroup = typeof Group.Type
export const GROUP_COLUMNS = Struct.keys(Group.fields)

/** A recipient domain with bounces in all campaigns. */
const BouncedDomain = Schema.Struct({
  domain: Schema.String,
  sent: Schema.Int,
  bounced: Schema.Int,
  ...DomainBounces.fields,
  campaigns: Schema.Int,
  /** The campaign with the most bounces. */
  campaignId: CampaignId,
  campaign: Schema.String,
  /** The last replies of at most three campaigns, the newest first, from `cleanSmtpReply`. */
  replies: Schema.Array(Schema.String),
  lastReplyAt: Schema.NullOr(Timestamp),
})
export type BouncedDomain = typeof BouncedDomain.Type
export const DOMAIN_COLUMNS = Struct.keys(BouncedDomain.fields)

const SUMS = Record.map(Numbers.fields, (_, name) => `coalesce(sum(${columnOf(name)}), 0)::int`)
const total = rowsOf(Numbers, SUMS)
const groups = rowsOf(Group)
const domains = rowsOf(BouncedDomain, { domain: "most.domain", campaignId: "worst[1][1]", campaign: "worst[1][2]" })

const BOUNCES = Struct.keys(DomainBounces.fields).map(columnOf)
const ALL_BOUNCES = BOUNCES.join(" + ")

/** Each campaign counts its own `accounts`, `learners` and `completers`; programs and organizations count each clinician once. */
const OF_FUNNEL: Partial<Record<NumberName, string>> = {
  accounts: "account_created",
  learners: "learner_qualified",
  completers: "completer_qualified",
}

/** Reads the counts of UTC dates that each transaction updates. */
export const NumbersReader = reader("NumbersReader", (sql) => {
  const list = (write: (name: NumberName) => string) => sql.literal(NUMBER_NAMES.map(write).join(", "))
  const columns = list(columnOf)

  const countsOf = ({ organizationId, programId }: NumbersFilter, { from, to }: Period, isOfCampaigns: boolean) => {
    const within = sql`hour >= ${from}::timestamp at time zone 'UTC' and hour < (${to}::date + 1)::timestamp at time zone 'UTC'`
    const campaignColumns = list((name) => (name in OF_FUNNEL && !isOfCampaigns ? `0 as ${name}` : columnOf(name)))
    const funnelColumns = list((name) => OF_FUNNEL[name] ?? `0 as ${columnOf(name)}`)
    return sql`(
      select organization_id, program_id, campaign_id, ${campaignColumns}
      from (
        select organization_id, campaign_id, ${columns} from campaign_counts where ${within}
        union all select organization_id, campaign_id, ${columns} from campaign_count_changes where ${within}
      ) counts
      join (select organization_id, id as campaign_id, program_id from campaigns) campaign using (organization_id, campaign_id)
      union all
      select program.organization_id, program.id, null, ${funnelColumns}
      from programs program join digest_funnel on digest_funnel.organization_id = program.organization_id and program_id = program.id
      where date between ${from}::date and ${to}::date and not ${isOfCampaigns}::boolean
    ) counts where ${equal({ organization_id: organizationId, program_id: programId })}`
  }

  return {
    total: (filter: NumbersFilter, period: Period) =>
      sql`select ${total.columns} from ${countsOf(filter, period, false)}`.pipe(total.decode, only),

    /** Reads the numbers of a period by organization, program or campaign, those with the most e-mails first, without empty groups. */
    groups: (filter: NumbersFilter, grouping: Grouping, period: Period, limit: number) => {
      const keys = GROUPINGS.slice(0, GROUPINGS.indexOf(grouping) + 1).map((name) => `${name}_id`)
      const key = (name: Grouping) => sql.literal(keys.includes(`${name}_id`) ? `${name}_id` : "null::text")
      return sql`
        select ${groups.columns} from (
          select counted.*, organizations.name as organization, programs.name as program, campaigns.name as campaign
          from (
            select ${key("organization")} as organization_id, ${key("program")} as program_id, ${key("campaign")} as campaign_id,
              ${list((name) => `${SUMS[name]} as ${columnOf(name)}`)}
            from ${countsOf(filter, period, grouping === "campaign")} group by ${sql.literal(keys.join(", "))}
          ) counted
          join organizations on organizations.id = counted.organization_id
          left join programs on programs.organization_id = counted.organization_id and programs.id = counted.program_id
          left join campaigns on campaigns.organization_id = counted.organization_id and campaigns.id = counted.campaign_id
        ) named
        where ${sql.literal(NUMBER_NAMES.map((name) => `${columnOf(name)} <> 0`).join(" or "))}
        order by sent + published desc, organization, program, campaign, 1, 3, 5 limit ${limit}`.pipe(groups.decode)
    },

    /** Reads the domains with the most bounces in all campaigns of a filter. */
    bouncedDomains: ({ organizationId, programId }: NumbersFilter, limit: number) => {
      const ofFilter = allOf(equal({ "campaign.organization_id": organizationId, "campaign.program_id": programId }))
      const reasons = sql.literal(BOUNCES.map((name) => `sum(${name})::int as ${name}`).join(", "))
      // Only the sums are needed to find the first domains.
      return sql`
        with most as materialized (
          select domain, sum(${sql.literal(ALL_BOUNCES)})::int as bounced
          from campaign_domains kept
          join campaigns campaign on campaign.organization_id = kept.organization_id and campaign.id = campaign_id
          where ${sql.literal(ALL_BOUNCES)} > 0 and ${ofFilter}
          group by domain order by bounced desc, domain limit ${limit}
        )
        select ${domains.columns} from most
        cross join lateral (
          select ${reasons}, count(*)::int as campaigns,
            (array_agg(array[campaign_id, campaign.name] order by ${sql.literal(ALL_BOUNCES)} desc, campaign_id))[1:1] as worst,
            coalesce((array_agg(last_reply order by last_reply_at desc) filter (where last_reply <> ''))[1:3], '{}') as replies,
            max(last_reply_at) as last_reply_at
          from organizations
          join campaign_domains kept on kept.organization_id = organizations.id and kept.domain = most.domain
          join campaigns campaign on campaign.organization_id = kept.organization_id and campaign.id = campaign_id
          where ${sql.literal(ALL_BOUNCES)} > 0 and ${ofFilter}
        ) bounce
        cross join lateral (
          select coalesce(sum(sent), 0)::int as sent
          from campaigns campaign cross join lateral (
            select sent from campaign_domains kept
            where kept.organization_id = campaign.organization_id and kept.campaign_id = campaign.id and kept.domain = most.domain limit 1
          ) kept
          where ${ofFilter}
        ) whole
        order by bounced desc, most.domain`.pipe(domains.decode)
    },
  }
})
