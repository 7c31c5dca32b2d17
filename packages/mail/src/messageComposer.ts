import { createPrivateKey } from "node:crypto"
import type { ComposedMail, Mail, PlainMail } from "@outreach/domain/mail/Transport"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { Redacted } from "effect"
import { mimeMessage } from "./mimeMessage.ts"
import { signMessage } from "./signMessage.ts"

/**
 * Creates the function that composes a sender's messages for a transport, signed with each key.
 *
 * Throws if a key is invalid, so that messages are never sent unsigned.
 */
export const createComposer = ({ dkim }: SenderIdentity) => {
  const signers = dkim?.keys.map(({ selector, privateKey }) => ({
    domain: dkim.domain,
    selector,
    privateKey: createPrivateKey(Redacted.value(privateKey)),
  }))
  return (mail: Mail | PlainMail, headers?: Readonly<Record<string, string>>): ComposedMail => {
    const message = Buffer.from(mimeMessage(mail, headers))
    return {
      envelope: { from: mail.returnPath, to: mail.to },
      message: signers === undefined ? message : signMessage(message, signers),
    }
  }
}
