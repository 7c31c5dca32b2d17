import { DescribedError } from "@outreach/domain/DescribedError"
import type { Mail } from "@outreach/domain/mail/Mailer"
import { Effect, Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { describeSmtpFailure } from "./describeSmtpFailure.ts"
import { composerOf } from "./messageComposer.ts"
import { type SmtpOptions, SmtpSession } from "./SmtpSession.ts"

/** The SMTP server did not take the message. It keeps codes alone, because the server's own words may hold an address. */
export class MailNotSent extends DescribedError(
  "MailNotSent",
  ({ reason }: { readonly reason: string }) => `The SMTP server did not take the message: ${reason}.`,
) {}

/** Shorter than the waits of RFC 5321 4.5.3.2, because a person waits. */
const TIMEOUTS = { connectMs: 10_000, replyMs: 30_000, dataMs: 30_000, blockMs: 60_000, finalMs: 60_000 }

/** Sends one message on a session of its own, without another try, and returns the server's reply. */
export const sendOnce = (
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
        const { envelope, text } = composerOf(mail.sender)(mail, options.headers)
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
