import type { CampaignId } from "@outreach/domain/Identifier"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { Effect } from "effect"
import type { Handler, HandlerInput } from "../http/Handlers.ts"
import { listPage } from "./listPage.ts"
import { RecipientPosition, recipientRecords } from "./recipientRecord.ts"

/** Lists the recipients of a campaign, one page after another; a campaign that the organization does not have has none. */
export const listCampaignRecipients: Handler<"listCampaignRecipients"> = Effect.fnUntraced(function* (
  asked: HandlerInput<"listCampaignRecipients">,
) {
  const { organizationId } = asked.caller
  const campaignId = asked.path.id as CampaignId
  const recipients = yield* RecipientRepository
  return yield* listPage(asked, {
    scope: ["listCampaignRecipients", organizationId, campaignId],
    position: RecipientPosition,
    read: (after, limit) => recipients.pageOfCampaign(organizationId, campaignId, after, limit),
    show: recipientRecords(organizationId, asked.query["expand[]"]),
  })
})
