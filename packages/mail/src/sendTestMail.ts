import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { DescribedError } from "@outreach/domain/DescribedError"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { Mail } from "@outreach/domain/mail/Mailer"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { type Config, Effect, Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { composerOf } from "./messageComposer.ts"
import { PLACEHOLDER_TOKEN, type RenderOptions, renderMail } from "./renderMail.ts"
import { describeSmtpFailure } from "./SmtpError.ts"
import { type SmtpOptions, SmtpSession } from "./SmtpSession.ts"
import type { smtpSettings } from "./smtpSettings.ts"

/** The SMTP server did not take the message. It keeps codes alone, because the server's own words may hold an address. */
class MailNotSent extends DescribedError(
  "MailNotSent",
  ({ reason }: { readonly reason: string }) => `The SMTP server did not take the message: ${reason}.`,
) {}

/** Shorter than the waits of RFC 5321 4.5.3.2, because a person waits. */
const TIMEOUTS = { connectMs: 10_000, replyMs: 30_000, dataMs: 30_000, blockMs: 60_000, finalMs: 60_000 }

/** Sends one message on a session of its own, without another try, and returns the server's reply. */
const sendOnce = (
  mail: Mail,
  options: {
    readonly url: Redacted.Redacted
    /** More headers, by their names. */
    readonly headers: Readonly<Record<string, string>>
  },
): Effect.Effect<string, MailNotSent> =>
  Effect.tryPromise({
    try: async () => {
      const session = await SmtpSession.open(parseConnectionUrl(Redacted.value(options.url)) as SmtpOptions, TIMEOUTS)
      try {
        const { envelope, text } = await composerOf(mail.sender)(mail, options.headers)
        const reply = await session.send(envelope, text, () => true)
        session.quit()
        return reply
      } catch (error) {
        session.close()
        throw error
      }
    },
    catch: (error) => new MailNotSent({ reason: describeSmtpFailure(error) }),
  })

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
