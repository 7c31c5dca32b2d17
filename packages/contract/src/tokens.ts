import * as z from "zod"
import type * as wire from "../types.d.ts"
import { CampaignSummary, Livemode, ProgramSummary } from "./campaigns.ts"
import { CampaignId, Email, Npi, ProgramId, RecipientId, Token } from "./identifiers.ts"
import { Cursor, expand, Limit, list } from "./lists.ts"
import type { Schema } from "./Schema.ts"
import { Since, Timestamp } from "./times.ts"

/** A recipient: a token bound to a clinician, an e-mail address, a campaign and a program. */
export const RecipientRecord: Schema<RecipientRecord> = z
  .object({
    object: z.literal("recipient_record"),
    livemode: Livemode,
    token: Token,
    npi: Npi,
    email: Email,
    service_recipient_id: RecipientId,
    service_campaign_id: CampaignId,
    service_program_id: ProgramId,
    created_at: Timestamp,
    updated_at: Timestamp.nullable(),
    sent_at: Timestamp.nullable(),
    bounced_at: Timestamp.nullable(),
    last_event_at: Timestamp.nullable(),
    campaign: CampaignSummary.nullable().optional(),
    program: ProgramSummary.nullable().optional(),
  })
  .meta({
    id: "RecipientRecord",
    description:
      "A token bound to a clinician, an e-mail address, a campaign and a program. The nullable times are always present; `campaign` and `program` only when expanded.",
  })
export type RecipientRecord = wire.RecipientRecord

export const RecipientList: Schema<wire.List<RecipientRecord>> = list(RecipientRecord, "RecipientList")

const recipientExpand = expand(["campaign", "program"])

export const TokenQuery = z.strictObject({ "expand[]": recipientExpand })

export const CampaignRecipientsQuery = z.strictObject({
  cursor: Cursor.optional(),
  limit: Limit,
  "expand[]": recipientExpand,
})

export const TokenListQuery = z.strictObject({ since: Since, ...CampaignRecipientsQuery.shape })
