import type { Mail, PlainMail } from "@outreach/domain/mail/Mailer"
import { encodeWord } from "nodemailer/lib/mime-funcs"
import MimeNode from "nodemailer/lib/mime-node"
import { encode, wrap } from "nodemailer/lib/qp"

/**
 * Holds the local part of the return path, which names the recipient under a seal: a complaint repeats the message's own headers, often
 * without its addresses.
 */
export const MESSAGE_SEAL_HEADER = "X-Outreach-Message"

/** Of the part of a boundary that is ours: its line has 26 characters more, and 78 is the most (RFC 5322 2.1.1). */
const MAX_BOUNDARY_LENGTH = 50

/** A word that no header line holds beside its name, and the length of an encoded one (RFC 2047 2). */
const LONG_WORD = /\S{66}/
const ENCODED_WORD_LENGTH = 52

const PLAIN = "text/plain"
const QUOTED = "quoted-printable"

/**
 * Writes a message as it is sent: the HTML with its text alternative (RFC 2046 5.1.4), and the headers of unsubscription by one click
 * (RFC 8058) and by mail (RFC 2369); a plain one with its text alone. Header lines are folded within 78 characters (RFC 5322 2.1.1), and a longer
 * word stands alone.
 *
 * nodemailer would write it from its parts, too, by way of some ten streams, at twice what sending it costs.
 */
export const mimeMessage = (mail: Mail | PlainMail, headers: Readonly<Record<string, string>> = {}): string => {
  const { from, replyTo } = mail.sender
  const isCampaign = "html" in mail
  const root = new MimeNode(isCampaign ? "multipart/alternative" : PLAIN, {
    baseBoundary: mail.messageId.replaceAll(/\W/g, "").slice(0, MAX_BOUNDARY_LENGTH),
  })
  root.setHeader({
    // Addresses are objects, because a text would be parsed, and one address taken for several.
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

// As encoded words, a long one can be folded.
const encodedWords = (text: string) => ({
  prepared: true,
  foldLines: true,
  value: encodeWord(text, "Q", ENCODED_WORD_LENGTH),
})

/** The second way of RFC 2369, for programs that know no https: RFC 8058 leaves it to the mail program which one it takes. */
const mailtoOf = ({ unsubscribeAddress }: Mail): ReadonlyArray<string> =>
  unsubscribeAddress === null ? [] : [`<mailto:${unsubscribeAddress}?subject=unsubscribe>`]

const part = (type: string, text: string): string =>
  `Content-Type: ${type}; charset=utf-8\r\nContent-Transfer-Encoding: ${QUOTED}\r\n\r\n${quoted(text)}`

const quoted = (text: string): string => wrap(encode(text.replaceAll(/\r\n?|\n/g, "\r\n")))
