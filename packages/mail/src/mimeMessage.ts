import type { Mail, PlainMail } from "@outreach/domain/mail/Transport"
import { encodeWord } from "nodemailer/lib/mime-funcs"
import MimeNode from "nodemailer/lib/mime-node"
import { encode, wrap } from "nodemailer/lib/qp"

/**
 * Header with the sealed local part of the return path: complaints include the message's own headers, often
 * without its addresses.
 */
export const MESSAGE_SEAL_HEADER = "X-Outreach-Message"

/** Maximum length of our part of a boundary: its line has 26 more characters, and 78 is the limit (RFC 5322, 2.1.1). */
const MAX_BOUNDARY_LENGTH = 50

/** A word longer than a header line or an encoded word (RFC 2047, 2) can contain. */
const LONG_WORD = /\S{66}/
const ENCODED_WORD_LENGTH = 52

const PLAIN = "text/plain"
const QUOTED = "quoted-printable"

/**
 * Serializes a message: HTML with text alternative (RFC 2046, 5.1.4) and headers for one-click unsubscription
 * (RFC 8058) and by mail (RFC 2369); a plain message has only text. Header lines are folded at 78 characters (RFC 5322, 2.1.1); longer
 * words are on separate lines.
 *
 * nodemailer would use about ten streams for this, at twice the cost of sending the message.
 */
export const mimeMessage = (mail: Mail | PlainMail, headers: Readonly<Record<string, string>> = {}): string => {
  const { from, replyTo } = mail.sender
  const isCampaign = "html" in mail
  const root = new MimeNode(isCampaign ? "multipart/alternative" : PLAIN, {
    baseBoundary: mail.messageId.replaceAll(/\W/g, "").slice(0, MAX_BOUNDARY_LENGTH),
  })
  root.setHeader({
    // Addresses are objects, because text would be parsed and could be split into several addresses.
    From: { ...from },
    ...(replyTo !== null && { "Reply-To": { name: "", address: replyTo } }),
    To: { name: "", address: mail.to },
    Subject: LONG_WORD.test(mail.subject) ? encodedWords(mail.subject) : mail.subject,
    "Message-ID": mail.messageId,
    ...(isCampaign && {
      "List-Unsubscribe": [`<${mail.unsubscribeUrl}>`, ...mailtoOf(mail)].join(", "),
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
      "Feedback-ID": mail.feedbackId,
      [MESSAGE_SEAL_HEADER]: mail.returnPath.slice(0, mail.returnPath.lastIndexOf("@")),
    }),
    ...headers,
  })
  if (!isCampaign) {
    root.setHeader({ "Content-Type": `${PLAIN}; charset=utf-8`, "Content-Transfer-Encoding": QUOTED })
    return `${root.buildHeaders()}\r\n\r\n${quoted(mail.text)}\r\n`
  }
  const head = root.buildHeaders()
  const parts = [part(PLAIN, mail.text), part("text/html", mail.html)]
  return `${head}\r\n\r\n${parts.map((it) => `--${root.boundary}\r\n${it}\r\n`).join("")}--${root.boundary}--\r\n`
}

// Encoded words can be folded if they are long.
const encodedWords = (text: string) => ({
  prepared: true,
  foldLines: true,
  value: encodeWord(text, "Q", ENCODED_WORD_LENGTH),
})

/** Second form of RFC 2369, for programs without https: according to RFC 8058, the mail program chooses. */
const mailtoOf = ({ unsubscribeAddress }: Mail): ReadonlyArray<string> =>
  unsubscribeAddress === null ? [] : [`<mailto:${unsubscribeAddress}?subject=unsubscribe>`]

const part = (type: string, text: string): string =>
  `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${QUOTED}\r\n\r\n${quoted(text)}`

const quoted = (text: string): string => wrap(encode(text.replaceAll(/\r\n?|\n/g, "\r\n")))
