import type { RecipientRecord } from "@outreach/contract"
import { CampaignBook, type CampaignWithProgram } from "@outreach/domain/campaigns/CampaignBook"
import type { CampaignId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type { RecipientPosition as Position } from "@outreach/domain/recipients/RecipientRegister"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import * as z from "zod"
import { Json } from "../http/encode.ts"
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

/** No summaries, for records of which nothing is expanded. */
export const NOTHING_EXPANDED: ReadonlyMap<CampaignId, CampaignWithProgram> = new Map()

/** Reads the campaigns and programs that rows belong to in one query, or in none when nothing is expanded. */
export const summariesFor = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  rows: ReadonlyArray<Pick<Recipient, "campaignId">>,
  expansion: RecipientExpansion,
) {
  if (expansion.length === 0 || rows.length === 0) return NOTHING_EXPANDED
  const campaigns = yield* CampaignBook
  return yield* campaigns.summaries(organizationId, [...new Set(rows.map(({ campaignId }) => campaignId))])
})

/** Shows a page of recipients. */
export const recipientRecords = (organizationId: OrganizationId, expansion: RecipientExpansion) =>
  Effect.fnUntraced(function* (recipients: ReadonlyArray<Recipient>, livemode: boolean) {
    const summaries = yield* summariesFor(organizationId, recipients, expansion)
    return recipients.map((recipient) => Json.from(recipientRecord(recipient, livemode, expansion, summaries)))
  })

/** A place in a list of recipients, as its cursors carry it. */
export const RecipientPosition: z.ZodType<Position, Position> = z.object({
  updatedAt: z.custom<Timestamp>(),
  id: z.custom<RecipientId>(),
})
