import { createPrivateKey } from "node:crypto"
import type { Mail, PlainMail } from "@outreach/domain/mail/Mailer"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { Redacted } from "effect"
import { mimeMessage } from "./mimeMessage.ts"
import { signMessage } from "./signMessage.ts"

/**
 * Returns the function that composes the messages of a sender for an `SmtpSession`: each one's envelope and text, with a signature of each key.
 *
 * Throws when a key cannot be read, so that no message goes out without its signature.
 */
export const composerOf = (sender: SenderIdentity): Composer => {
  const composer = composers.get(sender) ?? createComposer(sender)
  composers.set(sender, composer)
  return composer
}

// Keys are read once for a sender, and not for each message.
const composers = new WeakMap<SenderIdentity, Composer>()

type Composer = ReturnType<typeof createComposer>

const createComposer = ({ dkim }: SenderIdentity) => {
  const signers = dkim?.keys.map(({ selector, privateKey }) => ({
    domain: dkim.domain,
    selector,
    privateKey: createPrivateKey(Redacted.value(privateKey)),
  }))
  return (mail: Mail | PlainMail, headers?: Readonly<Record<string, string>>) => {
    const message = Buffer.from(mimeMessage(mail, headers))
    return {
      envelope: { from: mail.returnPath, to: mail.to },
      text: signers === undefined ? message : signMessage(message, signers),
    }
  }
}
