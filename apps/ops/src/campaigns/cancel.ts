import { COMMANDS, countUnsent } from "@outreach/domain/campaigns/Campaign"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
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
    const book = yield* CampaignBook
    const { name, status } = yield* book.find(campaignId)
    const { from } = COMMANDS.cancel
    if (!from.some((cancellable) => cancellable === status)) {
      return yield* new CampaignNotInStatus({ campaignId, status, wanted: from })
    }
    const progress = yield* book.progress(campaignId)
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
