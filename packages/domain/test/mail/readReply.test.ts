import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { readReply } from "../../src/mail/readReply.ts"

describe("a reply", () => {
  it("is kept without what it quotes, what steers a terminal, and what turns the direction of writing", () => {
    const text = "Dear Acme,\r\n\u001b[31mcall\u0007 me\u202e tomorrow\u0000\r\n\r\n\r\n\r\nDana\r\n> An invitation\r\n"
    expect(readReply({ subject: " Re:\r\n An \u2066invitation ", text })).toEqual({
      subject: "Re: An invitation",
      text: "Dear Acme,\n[31mcall me tomorrow\n\nDana",
    })
  })

  it("never holds a control character but tabs and line ends, nor half a character", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.boolean(), (body, isHtml) => {
        const { subject, text } = readReply(isHtml ? { subject: body, html: body } : { subject: body, text: body })
        expect(subject + text).not.toMatch(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]|\p{Cs}/u)
        expect(subject).not.toContain("\n")
      }),
    )
  })
})
