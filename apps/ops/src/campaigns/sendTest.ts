import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createIdentifier } from "@outreach/domain/Identifier"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { smtpSettings } from "@outreach/mail/smtpSettings"
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
    const { smtpUrl, bounceDomain, ...settings } = yield* smtpSettings
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const sender = (yield* (yield* SenderRepository).identityOf(campaignId)) ?? settings.sender
    // Loaded here, because few commands render a message.
    const { PLACEHOLDER_TOKEN, renderMail } = yield* Effect.promise(() => import("./renderMail.ts"))
    // The Message-ID contains this id. It is new each time, because mailboxes drop a Message-ID that they have seen.
    const recipientId = yield* createIdentifier("recipient")
    const placeholder = { token: PLACEHOLDER_TOKEN, email: to, recipientId }
    const mail = yield* renderMail(campaign, placeholder, { sender, bounceDomain })
    const subject = `[Test] ${mail.subject}`
    // Loaded here, because no other command sends e-mail.
    const { sendOnce } = yield* Effect.promise(() => import("@outreach/mail/sendOnce"))
    const headers = { "X-Outreach-Test": campaign.id }
    const reply = yield* sendOnce({ ...mail, subject }, { url: smtpUrl, headers })
    yield* printRecord({ campaignId, subject, messageId: mail.messageId, reply })
  }),
).pipe(
  Command.withDescription(
    "Send one real message, marked as a test, to your own address; its links are not valid and record nothing",
  ),
  Command.withExamples([{ command: "ops campaigns test cmp_… --to me@acme.example" }]),
)
