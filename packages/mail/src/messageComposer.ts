import type { Mail } from "@outreach/domain/mail/Mailer"
import { Redacted } from "effect"
import Dkim from "nodemailer/lib/dkim"
import MailComposer from "nodemailer/lib/mail-composer"
import type { Sender } from "./mailFrom.ts"
import { mimeMessage } from "./mimeMessage.ts"

/** How messages are signed (RFC 6376). */
export interface DkimOptions {
  readonly domain: string
  readonly selector: string
  /** In PEM. */
  readonly key: Redacted.Redacted
}

// RFC 8058 wants both headers of the unsubscription signed, which is one more than nodemailer's own list has.
// Gmail reads a Feedback-ID only where it is signed.
const SIGNED_HEADERS =
  "From:To:Subject:Date:Message-ID:MIME-Version:Content-Type:Content-Transfer-Encoding:List-Unsubscribe:List-Unsubscribe-Post:Feedback-ID:X-Outreach-Message"

/** Creates a function that composes messages for an `SmtpSession`: each one's envelope and text, signed unless `dkim` is null. */
export const messageComposer = (from: Sender, dkim: DkimOptions | null) => {
  const signer =
    dkim &&
    new Dkim({
      domainName: dkim.domain,
      keySelector: dkim.selector,
      privateKey: Redacted.value(dkim.key),
      headerFieldNames: SIGNED_HEADERS,
    })
  return (mail: Mail, headers?: Readonly<Record<string, string>>) => {
    const message = new MailComposer(mimeMessage(mail, from, headers)).compile()
    if (signer !== null) message.processFunc((input) => signer.sign(input))
    // Those who relay are asked for failures alone, and for no copy of the message (RFC 3461).
    const dsn = { ret: "headers", notify: ["failure"], orcpt: `rfc822;${mail.to}` }
    return { envelope: { ...message.getEnvelope(), dsn }, text: message.createReadStream() }
  }
}
