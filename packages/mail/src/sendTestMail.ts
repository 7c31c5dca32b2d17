import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import type { Config } from "effect"
import { Effect } from "effect"
import { PLACEHOLDER_TOKEN, type RenderOptions, renderMail } from "./renderMail.ts"
import { sendOnce } from "./sendOnce.ts"
import type { smtpSettings } from "./smtpSettings.ts"

/** Sends one real message of a campaign, marked as a test, to an address that need not be a recipient's. */
export const sendTestMail = Effect.fn("sendTestMail")(function* (
  campaign: Campaign,
  to: EmailAddress,
  settings: Config.Success<typeof smtpSettings> & Pick<RenderOptions, "publicBaseUrl">,
) {
  const { smtpUrl, bounceDomain, publicBaseUrl } = settings
  const sender = (yield* (yield* SenderRepository).identityOf(campaign.id)) ?? settings.sender
  // The Message-ID contains this id. It is new each time, because mailboxes drop a Message-ID that they have seen.
  const recipientId = yield* createIdentifier("recipient")
  const placeholder = { token: PLACEHOLDER_TOKEN, email: to, recipientId }
  const mail = yield* renderMail(campaign, placeholder, { sender, bounceDomain, publicBaseUrl })
  const subject = `[Test] ${mail.subject}`
  const reply = yield* sendOnce({ ...mail, subject }, { url: smtpUrl, headers: { "X-Outreach-Test": campaign.id } })
  return { subject, messageId: mail.messageId, reply }
})
