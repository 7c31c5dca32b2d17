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

  it("of HTML alone is its text, without links, images, scripts and quotations", () => {
    const html = `<style>p{}</style><script>alert(1)</script><p>Call <a href="https://t.test/l/x">me</a></p><img src="https://t.test/p" alt="x"><blockquote>quoted</blockquote>`
    expect(readReply({ html })).toEqual({ subject: "", text: "Call me" })
    expect(readReply({ text: " \n", html: "<p>Hello" }).text).toBe("Hello")
  })

  it("has a bounded length, whatever comes", () => {
    for (const text of ["x".repeat(1_000_000), "😀".repeat(100_000), "\n".repeat(100_000)]) {
      const reply = readReply({ subject: text, text })
      expect(reply.subject.length).toBeLessThanOrEqual(300)
      expect(reply.text.length).toBeLessThanOrEqual(10_000)
      expect(reply.text).not.toMatch(/\p{Cs}/u)
    }
    expect(readReply({ html: "<div>".repeat(20_000) }).text.length).toBeLessThanOrEqual(10_000)
    expect(readReply({ html: `<table><tr><td>${"<b".repeat(30_000)}` }).text.length).toBeLessThanOrEqual(10_000)
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
