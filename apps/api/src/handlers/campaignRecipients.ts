import type { CampaignId } from "@outreach/domain/Identifier"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { Effect } from "effect"
import type { Handler, HandlerInput } from "../http/Handlers.ts"
import { listPage } from "./listPage.ts"
import { RecipientPosition, recipientRecords } from "./recipientRecord.ts"

/** Lists the recipients of a campaign, one page after another; a campaign that the organization does not have has none. */
export const listCampaignRecipients: Handler<"listCampaignRecipients"> = Effect.fnUntraced(function* (
  input: HandlerInput<"listCampaignRecipients">,
) {
  const { organizationId } = input.caller
  const campaignId = input.path.id as CampaignId
  const recipients = yield* RecipientRepository
  return yield* listPage(input, {
    scope: ["listCampaignRecipients", organizationId, campaignId],
    position: RecipientPosition,
    read: (after, limit) => recipients.pageOfCampaign(organizationId, campaignId, after, limit),
    toWire: recipientRecords(organizationId, input.query["expand[]"]),
  })
})
