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
})
