import type { CampaignSummary, ProgramSummary, RecipientRecord } from "@outreach/contract"
import { CampaignRepository, type CampaignWithProgram } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { RecipientPosition as Position, Recipient } from "@outreach/domain/recipients/Recipient"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import * as z from "zod"
import { Json } from "../http/encode.ts"

/** Valid values of `expand[]` for a recipient. */
export type RecipientExpansion = ReadonlyArray<"campaign" | "program">

/**
 * Renders a recipient as JSON. Expanded objects without a summary are null.
 *
 * Concatenation is faster than `JSON.stringify`. Only the e-mail address and the summaries can contain characters to escape: the database
 * checks tokens and NPIs, and creates ids and times.
 */
export const recipientRecord = (
  recipient: Recipient,
  livemode: boolean,
  expansion: RecipientExpansion = [],
  summaries = NOTHING_EXPANDED,
): Json<RecipientRecord> => {
  const { token, npi, email, id, campaignId, programId, createdAt, updatedAt } = recipient
  const expanded = expansion.length === 0 ? "" : expandedMembers(expansion, livemode, summaries.get(campaignId))
  return new Json(
    `{"object":"recipient_record","livemode":${livemode},"token":"${token}","npi":"${npi}","email":${JSON.stringify(email)},` +
      `"service_recipient_id":"${id}","service_campaign_id":"${campaignId}","service_program_id":"${programId}",` +
      `"created_at":"${createdAt}","updated_at":"${updatedAt}","sent_at":${timeOrNull(recipient.sentAt)},` +
      `"bounced_at":${timeOrNull(recipient.bouncedAt)},"last_event_at":${timeOrNull(recipient.lastEventAt)}${expanded}}`,
  )
}

const timeOrNull = (time: Timestamp | null): string => (time === null ? "null" : `"${time}"`)

/** Renders the expanded campaign and program as further members. */
export const expandedMembers = (
  expansion: ReadonlyArray<string>,
  livemode: boolean,
  summary: CampaignWithProgram | undefined,
): string => {
  const campaign = summary === undefined ? null : campaignSummary(summary, livemode)
  const program = summary === undefined ? null : programSummary(summary, livemode)
  return (
    (expansion.includes("campaign") ? `,"campaign":${JSON.stringify(campaign)}` : "") +
    (expansion.includes("program") ? `,"program":${JSON.stringify(program)}` : "")
  )
}

/** For records without expansion. */
const NOTHING_EXPANDED: ReadonlyMap<CampaignId, CampaignWithProgram> = new Map()

/** Reads the campaigns and programs of rows in one query; none without expansion. */
export const summariesFor = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  rows: ReadonlyArray<Pick<Recipient, "campaignId">>,
  expansion: RecipientExpansion,
) {
  if (expansion.length === 0 || rows.length === 0) return NOTHING_EXPANDED
  const campaigns = yield* CampaignRepository
  return yield* campaigns.summaries(organizationId, [...new Set(rows.map(({ campaignId }) => campaignId))])
})

export const recipientRecords = (organizationId: OrganizationId, expansion: RecipientExpansion) =>
  Effect.fnUntraced(function* (recipients: ReadonlyArray<Recipient>, livemode: boolean) {
    const summaries = yield* summariesFor(organizationId, recipients, expansion)
    return recipients.map((recipient) => recipientRecord(recipient, livemode, expansion, summaries))
  })

/** Position in a list of recipients, as encoded in cursors. */
export const RecipientPosition: z.ZodType<Position, Position> = z.object({
  updatedAt: z.custom<Timestamp>(),
  id: z.custom<RecipientId>(),
})

const campaignSummary = ({ campaign }: CampaignWithProgram, livemode: boolean): CampaignSummary => ({
  object: "campaign",
  livemode,
  id: campaign.id,
  name: campaign.name,
  program_id: campaign.programId,
  status: campaign.status,
})

export const programSummary = (
  { program }: Pick<CampaignWithProgram, "program">,
  livemode: boolean,
): ProgramSummary => ({
  object: "program",
  livemode,
  id: program.id,
  slug: program.slug,
  name: program.name,
  status: program.status,
})
