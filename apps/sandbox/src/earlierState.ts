import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"

/** Describes the campaign that an earlier run has launched; undefined if the campaign is still a draft. */
export const earlierState = Effect.fnUntraced(function* (campaignId: CampaignId) {
  const campaigns = yield* CampaignRepository
  const { name, status, createdAt } = yield* campaigns.find(campaignId)
  if (status === "draft") return undefined
  const { recipients, sent, bounced } = yield* campaigns.progress(campaignId)
  const number = (value: number) => value.toLocaleString("en")
  return `This continues an earlier run: the campaign "${name}" of ${createdAt.slice(0, 10)} is ${status}, with ${number(sent)} of ${number(recipients)} e-mails sent and ${number(bounced)} bounced.
The mail catcher begins empty, because e-mails are not kept from one run to the next. To begin anew: npm start -- --fresh
`
})
