import type { RecipientRecord } from "@outreach/contract"
import { CampaignBook, type CampaignWithProgram } from "@outreach/domain/campaigns/CampaignBook"
import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import { Effect } from "effect"
import { campaignSummary, programSummary } from "./campaignSummary.ts"

/** What `expand[]` may ask of a recipient. */
export type RecipientExpansion = ReadonlyArray<"campaign" | "program">

/** A recipient as the wire shows it; what is expanded but not among the summaries is null. */
export const recipientRecord = (
  recipient: Recipient,
  livemode: boolean,
  expansion: RecipientExpansion,
  summaries: ReadonlyMap<CampaignId, CampaignWithProgram>,
): RecipientRecord => {
  const summary = summaries.get(recipient.campaignId)
  return {
    object: "recipient_record",
    livemode,
    token: recipient.token,
    npi: recipient.npi,
    email: recipient.email,
    service_recipient_id: recipient.id,
    service_campaign_id: recipient.campaignId,
    service_program_id: recipient.programId,
    created_at: recipient.createdAt,
    updated_at: recipient.updatedAt,
    sent_at: recipient.sentAt,
    bounced_at: recipient.bouncedAt,
    last_event_at: recipient.lastEventAt,
    ...(expansion.includes("campaign") && { campaign: summary ? campaignSummary(summary, livemode) : null }),
    ...(expansion.includes("program") && { program: summary ? programSummary(summary, livemode) : null }),
  }
}

const NONE: ReadonlyMap<CampaignId, CampaignWithProgram> = new Map()

/** Reads the campaigns and programs of recipients in one query, or in none when nothing is expanded. */
export const summariesFor = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  recipients: ReadonlyArray<Recipient>,
  expansion: RecipientExpansion,
) {
  if (expansion.length === 0 || recipients.length === 0) return NONE
  const campaigns = yield* CampaignBook
  return yield* campaigns.summaries(organizationId, [...new Set(recipients.map(({ campaignId }) => campaignId))])
})
