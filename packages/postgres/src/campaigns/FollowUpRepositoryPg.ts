import { drawLeadSeconds, FollowedRecipient, FollowUpState } from "@outreach/domain/campaigns/FollowUp"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn, decodeRow, decodeRows, decodeValue, first } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"

const decodeStates = decodeRows(FollowUpState.fields)
const decodeTime = decodeValue({ at: Schema.NullOr(Timestamp) })
const decodeCursor = decodeRow({ firstId: CampaignId, npi: Schema.NullOr(Schema.String), isErased: Schema.Boolean })
const decodeFollowed = decodeRows(FollowedRecipient.fields)
const decodeIds = decodeColumn({ id: RecipientId })

export const FollowUpRepositoryPg = adapter(FollowUpRepository, (sql) => ({
  create: ({ organizationId, campaignId }, followUp) =>
    sql`
          insert into follow_ups (organization_id, campaign_id, first_id, unless, after_seconds, lead_seconds)
          values (${organizationId}, ${campaignId}, ${followUp.followUpOf}, ${followUp.unless}, ${followUp.afterSeconds}::int,
            ${drawLeadSeconds(followUp)}::int)`,

  find: ({ organizationId, campaignId }) =>
    sql`
          select first_id as "followUpOf", unless, after_seconds as "afterSeconds", drawn_at as "drawnAt", skipped
          from follow_ups where organization_id = ${organizationId} and campaign_id = ${campaignId}`.pipe(
      decodeStates,
      first,
    ),

  lastSentAt: ({ organizationId, campaignId }) =>
    sql`
          select max(sent_at) as at from recipients where organization_id = ${organizationId} and campaign_id = ${campaignId}`.pipe(
      decodeTime,
    ),

  // One range of the unique index of NPIs, which do not change: a recipient who is updated at the same time is neither missed nor read twice.
  readNext: Effect.fnUntraced(function* ({ organizationId, campaignId }, limit) {
    const { firstId, npi, isErased } = yield* sql`
          select first_id as "firstId", npi, erased_at is not null as "isErased" from follow_ups
          left join recipients last on last.organization_id = follow_ups.organization_id and last.id = last_id
          where follow_ups.organization_id = ${organizationId} and follow_ups.campaign_id = ${campaignId}`.pipe(
      decodeCursor,
    )
    // An erased recipient has no place in the order, so all are read again: those who were drawn are there already.
    if (isErased) {
      yield* sql`
            update follow_ups set last_id = null, skipped = '{}'
            where organization_id = ${organizationId} and campaign_id = ${campaignId}`
    }
    return yield* sql`
          select id, recipient.npi, email, sent_at as "sentAt", bounced_at as "bouncedAt", erased_at is not null as "isErased",
            exists (
              select from late_refusals
              where organization_id = recipient.organization_id and campaign_id = recipient.campaign_id and recipient_id = recipient.id
            ) as "isRefusedLater",
            exists (
              select from complaints
              where organization_id = recipient.organization_id and campaign_id = recipient.campaign_id and recipient_id = recipient.id
            ) as "hasComplained",
            clicked_earlier(${organizationId}, ${campaignId}, recipient.npi) as "hasClicked",
            account_created_at is not null or exists (
              select from qualifications
              where organization_id = recipient.organization_id and program_id = recipient.program_id and stage = 'account_created'
                and npi = recipient.npi
            ) as "hasAccount",
            exists (
              select from qualifications
              where organization_id = recipient.organization_id and program_id = recipient.program_id
                and stage in ('learner_qualified', 'completer_qualified') and npi = recipient.npi
            ) as "hasQualified"
          from (
            select npi, recipient_id from recipient_keys
            where organization_id = ${organizationId} and campaign_id = ${firstId} and npi > ${isErased ? "" : (npi ?? "")}
            order by npi limit ${limit}
          ) next
          join recipients recipient on organization_id = ${organizationId} and id = next.recipient_id
          order by next.npi`.pipe(decodeFollowed)
  }),

  copyFields: (organizationId, drawn) =>
    sql`
          insert into recipient_fields (organization_id, recipient_id, fields, time_zones)
          select organization_id, drawn.id, fields, time_zones
          from ${toTable("drawn", drawn, { followedId: "text", id: "text" })}
          join recipient_fields on organization_id = ${organizationId} and recipient_id = followed_id`,

  advance: ({ organizationId, campaignId }, last, skipped) =>
    sql`
          update follow_ups set last_id = coalesce(${last}, last_id),
            drawn_at = case when ${last}::text is null then clock_timestamp() end,
            skipped = (
              select coalesce(jsonb_object_agg(reason, times), '{}') from (
                select key as reason, sum(value::int) as times from (
                  select * from jsonb_each_text(skipped) union all select * from jsonb_each_text(${JSON.stringify(skipped)}::jsonb)
                ) each group by key
              ) summed
            )
          where organization_id = ${organizationId} and campaign_id = ${campaignId}`,

  findClicked: (leases) =>
    sql`
          select recipient.id
          from ${toTable("lease", leases, { organizationId: "text", campaignId: "text", recipientId: "text" })}
          join follow_ups on follow_ups.organization_id = lease.organization_id and follow_ups.campaign_id = lease.campaign_id
            and unless = 'clicked'
          join recipients recipient on recipient.organization_id = lease.organization_id and recipient.id = lease.recipient_id
          where clicked_earlier(lease.organization_id, lease.campaign_id, recipient.npi)`.pipe(
      decodeIds,
      Effect.map((ids) => new Set(ids)),
    ),
}))
