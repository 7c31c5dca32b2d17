import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { DescribedError } from "@outreach/domain/DescribedError"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { PLACEHOLDER_TOKEN, renderMail } from "./renderMail.ts"
import { describeSmtpFailure } from "./SmtpError.ts"
import { sendOnce } from "./sendOnce.ts"
import type { TestMailSettings } from "./smtpSettings.ts"

/** The SMTP server rejected the message. Contains only codes, because the server's text may contain an address. */
class MailNotSent extends DescribedError(
  "MailNotSent",
  ({ reason }: { readonly reason: string }) => `The SMTP server rejected the message: ${reason}.`,
) {}

/** Sends one real message of a campaign, marked as a test, to any address. */
export const sendTestMail = Effect.fn("sendTestMail")(function* (
  campaign: Campaign,
  to: EmailAddress,
  settings: NonNullable<Effect.Success<TestMailSettings["Service"]>>,
) {
  const { smtpUrl, bounceDomain, bouncePort, publicBaseUrl } = settings
  const sender = (yield* (yield* SenderRepository).identityOf(campaign.id)) ?? settings.sender
  // The Message-ID contains this id. It is always new, because mailboxes drop repeated Message-IDs.
  const recipientId = yield* createIdentifier("recipient")
  const placeholder = { token: PLACEHOLDER_TOKEN, email: to, recipientId }
  const options = { sender, bounceDomain, publicBaseUrl, receivesMail: bouncePort !== null }
  const mail = yield* renderMail(campaign, placeholder, options)
  const subject = `[Test] ${mail.subject}`
  const reply = yield* Effect.tryPromise({
    try: () => sendOnce({ ...mail, subject }, { url: smtpUrl, headers: { "X-Outreach-Test": campaign.id } }),
    catch: (error) => new MailNotSent({ reason: describeSmtpFailure(error) }),
  })
  return { subject, messageId: mail.messageId, reply }
})
