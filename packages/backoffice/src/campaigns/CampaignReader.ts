import type { CampaignKey, CampaignKind } from "@outreach/domain/campaigns/Campaign"
import type { CampaignFilter, ListedCampaign } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Which campaigns a list shows: all conditions must hold. */
export interface CampaignListFilter extends CampaignFilter {
  readonly kind?: CampaignKind
  /** A part of the name; case does not matter. */
  readonly text?: string
  /** Only campaigns older than this one. */
  readonly before?: CampaignId
}

/** How many recipients of a campaign came how far. */
export interface CampaignTotals {
  readonly recipients: number
  readonly published: number
  readonly withdrawn: number
  readonly sent: number
  readonly bounced: number
  readonly answered: number
  readonly quarantined: number
  /** Recipients who opened and clicked: all, and those not suspected to be bots. */
  readonly opened: number
  readonly clicked: number
  readonly unsuspectedOpened: number
  readonly unsuspectedClicked: number
  /** Recipients who came so far after they were sent the e-mail. */
  readonly accounts: number
  readonly learners: number
  readonly completers: number
}

/** A campaign with its counts. */
export interface CampaignWithTotals extends ListedCampaign {
  readonly programName: string
  readonly organizationName: string
  readonly totals: CampaignTotals
}

/** What the mail servers of a recipient domain answered to a campaign. */
export interface CampaignDomain {
  readonly domain: string
  readonly sent: number
  readonly deferred: number
  readonly refused: number
  readonly mailboxNotFound: number
  readonly mailboxDisabled: number
  readonly domainNotFound: number
  readonly addressInvalid: number
  readonly other: number
  /** Who runs its mail servers, if that was looked up. */
  readonly operator: string | null
  readonly pausedUntil: Timestamp | null
  /** The last reply of a message that was not taken, from `cleanSmtpReply`. */
  readonly lastReply: string | null
  readonly lastReplyAt: Timestamp | null
}

/** How many e-mails were sent, and bounced, in an hour. */
export interface CampaignHour {
  readonly hour: Timestamp
  readonly sent: number
  readonly bounced: number
}

/** Reads campaigns with their counts. Nothing that is read grows with the recipients. */
export class CampaignReader extends Context.Service<CampaignReader>()("backoffice/campaigns/CampaignReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const totals = sql.literal(`
      jsonb_build_object(
        'recipients', recipients, 'published', published, 'withdrawn', withdrawn, 'sent', sent, 'bounced', bounced, 'answered', answered,
        'quarantined', quarantined, 'opened', opened, 'clicked', clicked, 'unsuspectedOpened', unsuspected_opened,
        'unsuspectedClicked', unsuspected_clicked, 'accounts', accounts, 'learners', learners, 'completers', completers)`)

    return {
      /** Lists campaigns without their bodies, newest first. */
      list: Effect.fn("CampaignReader.list")(
        ({ organizationId, programId, status, kind, text, before }: CampaignListFilter, limit: number) =>
          sql<CampaignWithTotals>`
            select campaign.*, ${totals} as totals from (
              select organization_id as "organizationId", campaigns.id, program_id as "programId", campaigns.name, kind, campaigns.status,
                subject, short_link as "shortLink", fields, per_minute as "perMinute", hours_from || '-' || hours_to as hours,
                window_start as "windowStart", window_end as "windowEnd", campaigns.created_at as "createdAt",
                campaigns.updated_at as "updatedAt", programs.name as "programName", organizations.name as "organizationName", (
                  select first_id from follow_ups where organization_id = campaigns.organization_id and campaign_id = campaigns.id
                ) as "followUpOf"
              from campaigns
              join programs using (organization_id)
              join organizations on organizations.id = organization_id
              where programs.id = program_id
                and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
                and (${programId ?? null}::text is null or program_id = ${programId ?? null})
                and (${status ?? null}::text is null or campaigns.status = ${status ?? null})
                and (${kind ?? null}::text is null or kind = ${kind ?? null})
                and (${text ?? null}::text is null or strpos(lower(campaigns.name), lower(${text ?? null})) > 0)
                and (${before ?? null}::text is null or campaigns.id < ${before ?? null})
              order by campaigns.id desc limit ${limit}
            ) campaign
            cross join lateral campaign_totals(campaign."organizationId", campaign.id)
            order by campaign.id desc`,
        orDieAs("CampaignReader.list"),
      ),

      /** Reads the counts of a campaign. */
      totals: ({ organizationId, campaignId }: CampaignKey) =>
        sql<{ totals: CampaignTotals }>`
          select ${totals} as totals from campaign_totals(${organizationId}, ${campaignId})`.pipe(
          Effect.map((rows) => rows[0]!.totals),
          orDieAs("CampaignReader.totals"),
        ),

      /** Reads how many e-mails were sent in each hour, the first one first. */
      hours: ({ organizationId, campaignId }: CampaignKey) =>
        sql<CampaignHour>`
          select hour, sum(sent)::int as sent, sum(bounced)::int as bounced
          from counts_of_campaign(${organizationId}, ${campaignId}) where sent <> 0 or bounced <> 0
          group by hour having sum(sent) <> 0 or sum(bounced) <> 0 order by hour`.pipe(orDieAs("CampaignReader.hours")),

      /** Reads the domains that answered most, those that are paused now before the others. */
      domains: ({ organizationId, campaignId }: CampaignKey, limit: number) =>
        sql<CampaignDomain>`
          with pause as materialized (
            select domain, until from domain_pauses
            where organization_id = ${organizationId} and campaign_id = ${campaignId} and until > statement_timestamp()
            order by until limit ${limit}
          ), answered as materialized (
            select * from campaign_domains
            where organization_id = ${organizationId} and campaign_id = ${campaignId}
            order by domain_size(sent, deferred, refused, mailbox_not_found, mailbox_disabled, domain_not_found, address_invalid, other) desc
            limit ${limit}
          ), paused as (
            -- Looked up one by one: of a campaign that has just begun there are no statistics.
            select pause.domain as paused_domain, until, kept.* from pause left join lateral (
              select * from campaign_domains
              where organization_id = ${organizationId} and campaign_id = ${campaignId} and domain = pause.domain limit 1
            ) kept on true
          ), found as (
            select * from paused
            union all select domain, null, answered.* from answered where domain <> all (select domain from pause)
          )
          select paused_domain as domain, coalesce(sent, 0) as sent, coalesce(deferred, 0) as deferred, coalesce(refused, 0) as refused,
            coalesce(mailbox_not_found, 0) as "mailboxNotFound", coalesce(mailbox_disabled, 0) as "mailboxDisabled",
            coalesce(domain_not_found, 0) as "domainNotFound", coalesce(address_invalid, 0) as "addressInvalid",
            coalesce(other, 0) as other, (select operator from mail_operators where mail_operators.domain = paused_domain) as operator,
            until as "pausedUntil", last_reply as "lastReply", last_reply_at as "lastReplyAt"
          from found
          order by until is null, coalesce(sent, 0) + coalesce(deferred, 0) + coalesce(refused, 0) desc, paused_domain limit ${limit}`.pipe(
          orDieAs("CampaignReader.domains"),
        ),

      /** Reads some recipients, whose e-mails a preview shows. */
      samples: ({ organizationId, campaignId }: CampaignKey, limit: number) =>
        sql<{ id: RecipientId; email: string }>`
          select id, email from recipients
          where organization_id = ${organizationId} and campaign_id = ${campaignId} and erased_at is null and withdrawn_at is null
          order by updated_at, id limit ${limit}`.pipe(orDieAs("CampaignReader.samples")),
    }
  }),
}) {
  static readonly layer = Layer.effect(CampaignReader, CampaignReader.make)
}
