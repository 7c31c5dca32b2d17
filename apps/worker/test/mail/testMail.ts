import { type Mail, Transport } from "@outreach/domain/mail/Transport"
import { createComposer } from "@outreach/mail/messageComposer"

/** Creates an e-mail from `outreach@acme.test`. */
export const mailTo = (
  to: string,
  { sender, ...more }: Partial<Omit<Mail, "sender">> & { readonly sender?: Partial<Mail["sender"]> } = {},
): Mail => ({
  sender: {
    ...{ id: null, from: { name: "Acme Outreach", address: "outreach@acme.test" }, replyTo: null },
    ...{ bounceDomain: null, linkDomain: null, dkim: null, ...sender },
  },
  to,
  subject: "An invitation – Einladung",
  html: "<p>Your link</p>",
  text: "Your link",
  messageId: "<rcp_1@acme.test>",
  feedbackId: "cmp_1:pgm_1:org_1:outreach",
  returnPath: "bounce-1@bounces.acme.test",
  unsubscribeUrl: "https://outreach.test/unsubscribe/1",
  unsubscribeAddress: "unsubscribe-1@bounces.acme.test",
  ...more,
})

/** Composes a message, and delivers it. */
export const sendMail = (mail: Mail, mayComplete = () => true) =>
  Transport.use(({ deliver }) => deliver(createComposer(mail.sender)(mail), mayComplete))
