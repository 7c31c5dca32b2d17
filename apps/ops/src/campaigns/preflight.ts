import { CampaignNotReady } from "@outreach/domain/campaigns/CampaignErrors"
import { failedChecks } from "@outreach/domain/campaigns/preflight"
import { preflightSettings } from "@outreach/mail/preflightSettings"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { formatCell } from "../output/format.ts"
import { Output, print } from "../output/Output.ts"

/** `ops campaigns preflight` */
export const preflight = reading(
  "preflight",
  { campaignId },
  Effect.fn("ops.campaigns.preflight")(function* ({ campaignId }) {
    const { json } = yield* Output
    // Loaded here, because few commands render a message.
    const { checkCampaign } = yield* Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
    const checks = yield* checkCampaign(campaignId)
    const lines = checks.map(({ status, check, found, advice }) =>
      formatCell(`${status.padEnd(7)}  ${check}: ${found}${advice === null ? "" : ` ${advice}`}`),
    )
    const failed = failedChecks(checks)
    if (failed.length === 0) return yield* print({ campaignId, checks }, () => lines.join("\n"))
    if (!json) yield* Console.log(lines.join("\n"))
    return yield* new CampaignNotReady({ campaignId, failed, checks })
  }),
).pipe(
  Command.withDescription(
    "Check whether a campaign is ready to be sent: recipients, window, rate, sender, what each e-mail must show, quota, endpoint and secret",
  ),
  Command.provide(preflightSettings),
)
