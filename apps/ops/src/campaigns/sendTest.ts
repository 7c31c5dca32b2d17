import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { makeIdentifier } from "@outreach/domain/Identifier"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { campaignId } from "../inputs/campaignId.ts"
import { contractFlag } from "../inputs/contractFlag.ts"
import { printRecord } from "../output/Output.ts"

/** `ops campaigns test` */
export const sendTest = Command.make(
  "test",
  {
    campaignId,
    to: contractFlag(
      "to",
      ({ Email }) => Email,
      () => "an e-mail address",
    ).pipe(Flag.withMetavar("address"), Flag.withDescription("The address that gets the message")),
  },
  Effect.fn("ops.campaigns.test")(function* ({ campaignId, to }) {
    const { smtpUrl, from, dkim, domain, bounceDomain } = yield* smtpSettings
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    // Loaded here, because few commands render a message.
    const { NOBODYS_TOKEN, renderMail } = yield* Effect.promise(() => import("./renderMail.ts"))
    // Of no recipient, and another one each time, because mailboxes drop a Message-ID that they have seen.
    const recipientId = yield* makeIdentifier("recipient")
    const nobody = { token: NOBODYS_TOKEN, email: to, recipientId }
    const mail = yield* renderMail(campaign, nobody, { domain, bounceDomain })
    const subject = `[Test] ${mail.subject}`
    // Loaded here, because no other command sends.
    const { sendOnce } = yield* Effect.promise(() => import("@outreach/mail/sendOnce"))
    const headers = { "X-Outreach-Test": campaign.id }
    const reply = yield* sendOnce({ ...mail, subject }, { url: smtpUrl, from, dkim, headers })
    yield* printRecord({ campaignId, subject, messageId: mail.messageId, reply })
  }),
).pipe(
  Command.withDescription(
    "Send one real message, marked as a test, to an address of yours; its links lead nowhere and record nothing",
  ),
  Command.withExamples([{ command: "ops campaigns test cmp_… --to me@acme.example" }]),
)
