import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { DescribedError } from "@outreach/domain/DescribedError"
import { createIdentifier } from "@outreach/domain/Identifier"
import { type MailOutcome, Transport } from "@outreach/domain/mail/Transport"
import type { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { SenderKeyUnreadable, SenderRepository } from "@outreach/domain/senders/Senders"
import { Effect } from "effect"
import { createComposer } from "./messageComposer.ts"
import { PLACEHOLDER_TOKEN, renderMail } from "./renderMail.ts"
import type { TestMailSettings } from "./smtpSettings.ts"

/** The mail server didn't accept the message. */
class MailNotSent extends DescribedError("MailNotSent", "The mail server didn't accept the message: {reason}.") {}

const reasonOf = (outcome: MailOutcome): string =>
  "failure" in outcome
    ? outcome.failure.code
    : ("reply" in outcome && outcome.reply) || ("lacking" in outcome && outcome.lacking) || outcome._tag.toLowerCase()

/** Sends one real message of a campaign, marked as a test, to any address. */
export const sendTestMail = Effect.fn("sendTestMail")(function* (
  campaign: Campaign,
  to: EmailAddress,
  settings: NonNullable<Effect.Success<TestMailSettings["Service"]>>,
) {
  const { bounceDomain, bouncePort, publicBaseUrl } = settings
  const sender = (yield* (yield* SenderRepository).identityOf(campaign.id)) ?? settings.sender
  // The Message-ID contains this id. It is always new, because mailboxes drop repeated Message-IDs.
  const recipientId = yield* createIdentifier("recipient")
  const placeholder = { token: PLACEHOLDER_TOKEN, email: to, recipientId }
  const options = { sender, bounceDomain, publicBaseUrl, receivesMail: bouncePort !== null }
  const mail = yield* renderMail(campaign, placeholder, options)
  const subject = `[Test] ${mail.subject}`
  const composed = yield* Effect.try({
    try: () => createComposer(sender)({ ...mail, subject }, { "X-Outreach-Test": campaign.id }),
    catch: () => new SenderKeyUnreadable({ senderId: sender.id ?? "" }),
  })
  const outcome = yield* (yield* Transport).deliver(composed, () => true)
  if (outcome._tag !== "Accepted") return yield* new MailNotSent({ reason: reasonOf(outcome) })
  return { subject, messageId: mail.messageId, reply: outcome.reply }
})
