import type { Mail } from "@outreach/domain/outreach/Mailer"
import { compile } from "html-to-text"
import type { Sender } from "./mailFrom.ts"

// Compiled once: the selectors cost as much as the conversion.
const toText = compile({ wordwrap: false, selectors: [{ selector: "img", format: "skip" }] })

/** Lays out a message as nodemailer takes it: the HTML with a text alternative, and the headers of one-click unsubscription (RFC 8058). */
export const mimeMessage = (mail: Mail, from: Sender) => ({
  from: { ...from },
  // Objects, because a text would be parsed, and one address taken for several.
  to: { name: "", address: mail.to },
  envelope: { from: mail.returnPath, to: [{ name: "", address: mail.to }] },
  subject: mail.subject,
  html: mail.html,
  text: toText(mail.html),
  messageId: mail.messageId,
  headers: {
    "List-Unsubscribe": `<${mail.unsubscribeUrl}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  },
  disableFileAccess: true,
  disableUrlAccess: true,
})
