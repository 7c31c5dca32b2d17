import { CampaignNotReady } from "@outreach/domain/campaigns/CampaignErrors"
import { failedChecks } from "@outreach/domain/campaigns/preflight"
import { preflightSettings } from "@outreach/mail/preflightSettings"
import { Console, Effect } from "effect"
import { reading } from "../Declaration.ts"
import { campaignId } from "../inputs/filters.ts"
import { formatFinding } from "../output/format.ts"
import { Output, print } from "../output/Output.ts"

/** `ops campaigns preflight` */
export const preflight = reading({
  about:
    "Check whether a campaign is ready to be sent: recipients, window, rate, sender, what each e-mail must show, quota, endpoint and secret",
  input: { campaignId },
  *run({ campaignId }) {
    const { json } = yield* Output
    // Loaded here, because few commands render a message.
    const { checkCampaign } = yield* Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
    const checks = yield* checkCampaign(campaignId)
    const lines = checks.map(({ check, ...finding }) => formatFinding(`${check}: `, finding)).join("\n")
    const failed = failedChecks(checks)
    if (failed.length === 0) return yield* print({ campaignId, checks }, () => lines)
    if (!json) yield* Console.log(lines)
    return yield* new CampaignNotReady({ campaignId, failed, checks })
  },
  services: preflightSettings,
})
