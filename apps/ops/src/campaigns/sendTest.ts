import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { publicBaseUrl } from "@outreach/process/settings"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { campaignId } from "../inputs/commonFlags.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { printRecord } from "../output/Output.ts"

// Loaded when the flag is given, because it loads the contract's schemas.
const emailAddress = Effect.promise(async () => (await import("@outreach/domain/recipients/EmailAddress")).EmailAddress)

/** `ops campaigns test` */
export const sendTest = changing(
  "test",
  {
    campaignId,
    to: parsedFlag("to", emailAddress, "The address that gets the message").pipe(Flag.withMetavar("address")),
  },
  Effect.fn("ops.campaigns.test")(function* ({ campaignId, to }) {
    const settings = { ...(yield* smtpSettings), publicBaseUrl: yield* publicBaseUrl }
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    // Loaded here, because no other command renders a message and sends it.
    const { sendTestMail } = yield* Effect.promise(() => import("@outreach/mail/sendTestMail"))
    yield* printRecord({
      campaignId,
      ...(yield* sendTestMail(campaign, to, settings).pipe(Effect.provide(throwawaySeal))),
    })
  }),
).pipe(
  Command.withDescription(
    "Send one real message, marked as a test, to your own address; its links are not valid and record nothing",
  ),
  Command.withExamples([{ command: "ops campaigns test cmp_… --to me@acme.example" }]),
)
