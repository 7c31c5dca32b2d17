import { createPrivateKey } from "node:crypto"
import type { Mail, PlainMail } from "@outreach/domain/mail/Mailer"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { Redacted } from "effect"
import { mimeMessage } from "./mimeMessage.ts"
import { signMessage } from "./signMessage.ts"

type Composer = ReturnType<typeof createComposer>

/**
 * Creates the function that composes a sender's messages for an `SmtpSession`: envelope and text, signed with each key.
 *
 * Throws if a key is invalid, so that messages are never sent unsigned.
 */
export const createComposer = ({ dkim }: SenderIdentity) => {
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

/** Creates a function that returns a sender's composer, parsing the sender's keys only once. */
export const createComposers = (): ((sender: SenderIdentity) => Composer) => {
  const composers = new WeakMap<SenderIdentity, Composer>()
  return (sender) => {
    const composer = composers.get(sender) ?? createComposer(sender)
    composers.set(sender, composer)
    return composer
  }
}
