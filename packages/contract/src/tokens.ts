import * as z from "zod"
import { CampaignSummary, Livemode, ProgramSummary } from "./campaigns.ts"
import { CampaignId, Email, Npi, ProgramId, RecipientId, Token } from "./identifiers.ts"
import { Cursor, expand, Limit, type List, list } from "./lists.ts"
import type { Schema } from "./Schema.ts"
import { Since, Timestamp } from "./times.ts"

/** A recipient: a token bound to a clinician, an e-mail address, a campaign and a program. */
export interface RecipientRecord {
  object: "recipient_record"
  /** True only on the production deployment. */
  livemode: boolean
  /** Six base62 characters. */
  token: string
  /** Ten digits. */
  npi: string
  email: string
  /** `rcp_<hex>` */
  service_recipient_id: string
  /** `cmp_<hex>` */
  service_campaign_id: string
  /** `pgm_<hex>` */
  service_program_id: string
  created_at: string
  updated_at: string | null
  sent_at: string | null
  bounced_at: string | null
  last_event_at: string | null
  /** Present only when expanded. */
  campaign?: CampaignSummary | null | undefined
  /** Present only when expanded. */
  program?: ProgramSummary | null | undefined
}
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

/** One page of recipient records. */
export const RecipientList: Schema<List<RecipientRecord>> = list(RecipientRecord, "RecipientList")

const recipientExpand = expand(["campaign", "program"])

/** Query of the token lookup. */
export const TokenQuery = z.strictObject({ "expand[]": recipientExpand })

/** Query of the recipients of a campaign. */
export const CampaignRecipientsQuery = z.strictObject({
  cursor: Cursor.optional(),
  limit: Limit,
  "expand[]": recipientExpand,
})

/** Query of the token list. */
export const TokenListQuery = z.strictObject({ since: Since, ...CampaignRecipientsQuery.shape })
