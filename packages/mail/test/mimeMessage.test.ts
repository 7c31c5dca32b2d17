import fc from "fast-check"
import MailComposer from "nodemailer/lib/mail-composer"
import PostalMime from "postal-mime"
import { describe, expect, it } from "vitest"
import { mimeMessage } from "../src/mimeMessage.ts"

const from = { name: "Acme", address: "a@acme.test" }
const sender = { id: null, from, replyTo: null, bounceDomain: null, linkDomain: null, dkim: null }
const mail = {
  sender,
  to: "clinician@clinic.test",
  subject: "Einladung – an invitation",
  html: `<p>Grüße, <a href="https://l.test/x">open</a><img src="https://l.test/pixel"></p>`,
  text: "Grüße, open [https://l.test/x]",
  messageId: `<rcp_${"1".repeat(32)}@acme.test>`,
  feedbackId: `cmp_${"2".repeat(32)}:pgm_${"3".repeat(32)}:org_${"4".repeat(32)}:outreach`,
  returnPath: "bounce-1@bounces.acme.test",
  unsubscribeUrl: `https://outreach.test/unsubscribe/${"x".repeat(120)}`,
  unsubscribeAddress: "unsubscribe-1@bounces.acme.test",
}

describe("mimeMessage", () => {
  it("writes the HTML and a text alternative, and the headers of a one-click unsubscription", async () => {
    const raw = mimeMessage(mail)
    expect(raw).toContain("Content-Type: multipart/alternative;")
    const parsed = await PostalMime.parse(raw)
    expect(parsed).toMatchObject({ messageId: mail.messageId, subject: mail.subject, from: { address: "a@acme.test" } })
    expect(parsed.html).toContain(`<p>Grüße, <a href="https://l.test/x">open</a>`)
    expect(parsed.text?.trim()).toBe("Grüße, open [https://l.test/x]")
    expect(parsed.headers.filter(({ key }) => key.startsWith("list-unsubscribe")).map(({ value }) => value)).toEqual([
      `<${mail.unsubscribeUrl}>, <mailto:unsubscribe-1@bounces.acme.test?subject=unsubscribe>`,
      "List-Unsubscribe=One-Click",
    ])
  })

  it("offers only the https unsubscription if no mail is received", async () => {
    const { headers } = await PostalMime.parse(mimeMessage({ ...mail, unsubscribeAddress: null }))
    expect(headers.find(({ key }) => key === "list-unsubscribe")?.value).toBe(`<${mail.unsubscribeUrl}>`)
  })

  it("contains the campaign's Feedback-ID and the local part of the return path", async () => {
    const { headers } = await PostalMime.parse(mimeMessage(mail))
    const value = (name: string) => headers.find(({ originalKey }) => originalKey === name)?.value
    expect(value("Feedback-ID")).toBe(mail.feedbackId)
    expect(value("X-Outreach-Message")).toBe("bounce-1")
  })

  it("folds header lines within 78 characters, with longer words on separate lines", async () => {
    const long = {
      ...mail,
      sender: {
        ...sender,
        from: {
          name: "A clinic with many words in its name, ".repeat(5).trim(),
          address: `a@${"sub.".repeat(40)}acme.test`,
        },
        replyTo: `${"r".repeat(64)}@${"sub.".repeat(40)}acme.test`,
      },
      subject: `${"w".repeat(1200)} and “more”`,
      messageId: `<rcp_${"1".repeat(32)}@${"sub.".repeat(40)}acme.test>`,
    }
    const raw = mimeMessage(long)
    const [head] = raw.split("\r\n\r\n")
    expect(longLines(head!)).toEqual([])
    expect(head!.split("\r\n").filter((line) => /^\s*$/.test(line))).toEqual([])
    const { subject, from, replyTo, messageId } = await PostalMime.parse(raw)
    expect({ subject, from, replyTo: replyTo?.[0]?.address, messageId }).toEqual({
      ...{ subject: long.subject, from: long.sender.from, replyTo: long.sender.replyTo, messageId: long.messageId },
    })
  })

  it("matches nodemailer's message for the same parts, in ASCII and without long lines", async () => {
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom("\n", "\r\n", " ", "=", ".", "--", "é", "😀", "From ", "\t\n", "https://x.test/"),
          fc.string({ unit: "grapheme" }),
          fc.string({ minLength: 70, maxLength: 200 }),
        ),
        { minLength: 1, maxLength: 12 },
      )
      .map((parts) => `x${parts.join("")}`)
    const line = fc.string({ unit: "grapheme", minLength: 1 }).filter((it) => /\S/.test(it))
    await fc.assert(
      fc.asyncProperty(text, text, line, line, async (text, html, subject, name) => {
        const raw = mimeMessage({ ...mail, sender: { ...sender, from: { ...from, name } }, text, html, subject })
        expect(raw).toMatch(/^[\t\r\n\x20-\x7e]*$/)
        const [head, ...parts] = raw.split("\r\n\r\n")
        expect(longLines(head!)).toEqual([])
        expect(Math.max(...parts.flatMap((lines) => lines.split("\r\n")).map(({ length }) => length))).toBeLessThan(80)
        const theirs = await new MailComposer({
          from: { ...from, name },
          to: { name: "", address: mail.to },
          subject,
          text,
          html,
          textEncoding: "quoted-printable",
          messageId: mail.messageId,
        } as never)
          .compile()
          .build()
        const [a, b] = await Promise.all([PostalMime.parse(raw), PostalMime.parse(theirs)])
        expect(a).toMatchObject({ subject: b.subject, from: b.from, to: b.to, messageId: b.messageId })
        expect(linesOf(a.text)).toEqual(linesOf(b.text))
        expect(linesOf(a.html)).toEqual(linesOf(b.html))
      }),
    )
  })
})

/** Returns the header lines over 78 characters that could be folded. */
const longLines = (head: string) => head.split("\r\n").filter((line) => line.length > 78 && !/^ \S{78,997}$/.test(line))

/** Returns a part's lines, with or without a line feed at its end. */
const linesOf = (text = "") => text.replace(/\n$/, "").split("\n")
