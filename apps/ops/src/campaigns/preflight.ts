import { optionalSmtpSettings } from "@outreach/mail/smtpSettings"
import { Console, Effect, Schema } from "effect"
import { Command } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { formatCell, formatCount } from "../output/format.ts"
import { Output, print } from "../output/Output.ts"

/** `ops campaigns preflight` */
export const preflight = reading(
  "preflight",
  { campaignId },
  Effect.fn("ops.campaigns.preflight")(function* ({ campaignId }) {
    const { json } = yield* Output
    const settings = yield* optionalSmtpSettings
    // Loaded here, because few commands render a message.
    const { checkCampaign } = yield* Effect.promise(() => import("@outreach/domain/campaigns/Preflights"))
    const checks = yield* checkCampaign(campaignId, {
      deploymentSigns: settings === null ? null : settings.sender.dkim !== null,
    })
    const lines = checks.map(({ status, check, found, advice }) =>
      formatCell(`${status.padEnd(7)}  ${check}: ${found}${advice === null ? "" : ` ${advice}`}`),
    )
    const failed = checks.filter(({ status }) => status === "failed").length
    if (failed === 0) return yield* print({ campaignId, checks }, () => lines.join("\n"))
    if (!json) yield* Console.log(lines.join("\n"))
    return yield* new CampaignNotReady({ campaignId, failed, checks: [...checks] })
  }),
).pipe(
  Command.withDescription(
    "Check whether a campaign is ready to be sent: recipients, window, rate, sender, what each e-mail must show, quota, endpoint and secret",
  ),
)

/** Checks of a campaign failed. */
class CampaignNotReady extends Schema.TaggedError<CampaignNotReady>()("CampaignNotReady", {
  campaignId: Schema.String,
  failed: Schema.Int,
  checks: Schema.Array(
    Schema.Struct({
      check: Schema.String,
      status: Schema.String,
      found: Schema.String,
      advice: Schema.NullOr(Schema.String),
    }),
  ),
}) {
  override get message(): string {
    return `${formatCount(this.failed, "check")} of ${this.checks.length} failed for ${this.campaignId}.`
  }
}
