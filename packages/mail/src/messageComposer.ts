import { createPrivateKey } from "node:crypto"
import type { Mail, PlainMail } from "@outreach/domain/mail/Mailer"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { Redacted } from "effect"
import Dkim from "nodemailer/lib/dkim"
import { mimeMessage } from "./mimeMessage.ts"

// RFC 8058 wants both headers of the unsubscription signed, which is one more than nodemailer's own list has.
// Gmail reads a Feedback-ID only where it is signed.
const SIGNED_HEADERS =
  "From:Reply-To:To:Subject:Date:Message-ID:MIME-Version:Content-Type:Content-Transfer-Encoding:List-Unsubscribe:List-Unsubscribe-Post:Feedback-ID:X-Outreach-Message:Auto-Submitted"

/**
 * Returns the function that composes the messages of a sender for an `SmtpSession`: each one's envelope and text, with a signature of each key.
 *
 * Throws when a key cannot be read: nodemailer would leave its signature out, and send the message.
 */
export const composerOf = (sender: SenderIdentity): Composer => {
  const composer = composers.get(sender) ?? createComposer(sender)
  composers.set(sender, composer)
  return composer
}

// Keys are read once for a sender, and not for each message.
const composers = new WeakMap<SenderIdentity, Composer>()

type Composer = ReturnType<typeof createComposer>

const createComposer = (sender: SenderIdentity) => {
  const signer =
    sender.dkim &&
    new Dkim({
      keys: sender.dkim.keys.map(({ selector, privateKey }) => ({
        domainName: sender.dkim!.domain,
        keySelector: selector,
        // The types name texts alone, which are read for each message.
        privateKey: createPrivateKey(Redacted.value(privateKey)) as unknown as string,
      })),
      headerFieldNames: SIGNED_HEADERS,
    })
  return async (mail: Mail | PlainMail, headers?: Readonly<Record<string, string>>) => {
    const message = Buffer.from(mimeMessage(mail, headers))
    return {
      envelope: { from: mail.returnPath, to: mail.to },
      text: signer === null ? message : Buffer.concat(await signer.sign(message).toArray()),
    }
  }
}
