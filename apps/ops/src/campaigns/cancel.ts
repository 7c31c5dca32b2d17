import { countUnsent, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { campaignId } from "../inputs/campaignId.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/formatCount.ts"
import { loadCampaigns } from "./loadCampaigns.ts"
import { printCampaign } from "./printCampaign.ts"

/** `ops campaigns cancel` */
export const cancel = Command.make(
  "cancel",
  { campaignId, yes },
  Effect.fn("ops.campaigns.cancel")(function* ({ campaignId, yes }) {
    const campaigns = yield* CampaignRepository
    const { name, status } = yield* campaigns.find(campaignId)
    const { from } = TRANSITIONS.cancel
    if (!from.some((cancellable) => cancellable === status)) {
      return yield* new CampaignNotInStatus({ campaignId, status, wanted: from })
    }
    const progress = yield* campaigns.progress(campaignId)
    const count = countUnsent(progress)
    const unsent = `${formatCount(count, "recipient")} of ${progress.recipients} without their e-mail`
    yield* confirm(`cancel campaign ${campaignId} "${name}" (${status}) for good, which leaves ${unsent}`, {
      yes,
      count,
    })
    const { commandCampaign } = yield* loadCampaigns
    yield* printCampaign(yield* commandCampaign(campaignId, "cancel"))
  }),
).pipe(Command.withDescription("End a campaign for good; what was sent stays sent. Asks first, or needs --yes"))
