import { compile } from "html-to-text"
import type { ReplyText } from "./Reply.ts"

const MAX_SUBJECT_LENGTH = 300
const MAX_TEXT_LENGTH = 10_000
/** How much of a text is looked at. */
const MAX_READ_LENGTH = 65_536

// Links are left out: nobody may follow those of the quoted message by accident.
const htmlText = compile({
  wordwrap: false,
  limits: { maxDepth: 50 },
  selectors: [
    { selector: "img", format: "skip" },
    { selector: "a", options: { ignoreHref: true } },
    { selector: "blockquote", format: "skip" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
  ],
})

/** Reads what is kept of a message: its text without attachments, or else its HTML as text. Lines that quote with `>` are left out. */
export const readReply = (message: {
  readonly subject?: string | undefined
  readonly text?: string | undefined
  readonly html?: string | undefined
}): ReplyText => {
  const { subject = "", text = "", html = "" } = message
  const lines = plain(/\S/.test(text) ? text : htmlText(html.slice(0, MAX_READ_LENGTH))).split("\n")
  const own = lines.filter((line) => !/^\s*>/.test(line)).map((line) => line.trimEnd())
  return {
    subject: cut(plain(subject).replaceAll(/\s+/g, " ").trim(), MAX_SUBJECT_LENGTH),
    text: cut(
      own
        .join("\n")
        .replaceAll(/\n{3,}/g, "\n\n")
        .trim(),
      MAX_TEXT_LENGTH,
    ),
  }
}

/** Leaves out what steers a terminal, turns the direction of writing, or shows nothing. The joiners U+200C and U+200D belong to scripts and emoji. */
const plain = (text: string): string =>
  text
    .slice(0, MAX_READ_LENGTH)
    .replaceAll(/\r\n?|[\u2028\u2029]/g, "\n")
    .replaceAll(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, "")

const cut = (text: string, length: number): string =>
  (text.length > length ? `${text.slice(0, length - 1)}…` : text).replaceAll(/\p{Cs}/gu, "\uFFFD")
