import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { printRecord } from "../output/Output.ts"

/** `ops campaigns rate` */
export const rate = changing(
  "rate",
  {
    campaignId,
    perMinute: parsedFlag(
      "per-minute",
      noneOr(wholeNumber(1, 1_000_000, "a number of e-mails")),
      "The maximum of its e-mails per minute from now on, 1 to 1000000, or none for as many as the workers send",
    ).pipe(Flag.withMetavar("number")),
  },
  Effect.fn("ops.campaigns.rate")(function* ({ campaignId, perMinute }) {
    const { changeRate } = yield* Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))
    const { html: _html, text: _text, ...campaign } = yield* changeRate(campaignId, perMinute)
    yield* printRecord(campaign)
  }),
).pipe(Command.withDescription("Change how many e-mails of a campaign go out in a minute at most, also while it sends"))
