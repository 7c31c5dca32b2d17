import type { Mail, PlainMail } from "@outreach/domain/mail/Mailer"
import { Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { createComposer } from "./messageComposer.ts"
import { type SmtpOptions, SmtpSession } from "./SmtpSession.ts"

/** Shorter than the timeouts of RFC 5321, 4.5.3.2, because a person waits. */
const TIMEOUTS = { connectMs: 10_000, replyMs: 30_000, dataMs: 30_000, blockMs: 60_000, finalMs: 60_000 }

/** Sends one message in a separate session, without retries. Returns the server's reply; rejects with the session's error. */
export const sendOnce = async (
  mail: Mail | PlainMail,
  options: {
    readonly url: Redacted.Redacted
    /** Additional headers by name. */
    readonly headers: Readonly<Record<string, string>>
  },
): Promise<string> => {
  const { envelope, text } = createComposer(mail.sender)(mail, options.headers)
  const session = await SmtpSession.open(parseConnectionUrl(Redacted.value(options.url)) as SmtpOptions, TIMEOUTS)
  try {
    const reply = await session.send(envelope, text, () => true)
    session.quit()
    return reply
  } catch (error) {
    session.close()
    throw error
  }
}
