import { createTransport } from "nodemailer"
import PostalMime from "postal-mime"
import { describe, expect, it } from "vitest"
import { mimeMessage } from "../src/mimeMessage.ts"

const mail = {
  to: "clinician@clinic.test",
  subject: "Einladung – an invitation",
  html: `<p>Grüße, <a href="https://l.test/x">open</a><img src="https://l.test/pixel"></p>`,
  messageId: "<rcp_1@acme.test>",
  returnPath: "bounce-1@bounces.acme.test",
  unsubscribeUrl: `https://outreach.test/unsubscribe/${"x".repeat(120)}`,
}

describe("mimeMessage", () => {
  it("writes the HTML and a text alternative, and the headers of a one-click unsubscription unfolded", async () => {
    const transport = createTransport({ streamTransport: true, buffer: true })
    const { message, envelope } = await transport.sendMail(mimeMessage(mail, { name: "Acme", address: "a@acme.test" }))
    const raw = message.toString()
    expect(envelope).toEqual({ from: mail.returnPath, to: [mail.to] })
    expect(raw).toContain("Content-Type: multipart/alternative;")
    const parsed = await PostalMime.parse(raw)
    expect(parsed).toMatchObject({ messageId: mail.messageId, subject: mail.subject, from: { address: "a@acme.test" } })
    expect(parsed.html).toContain(`<p>Grüße, <a href="https://l.test/x">open</a>`)
    expect(parsed.text?.trim()).toBe("Grüße, open [https://l.test/x]")
    expect(parsed.headers.filter(({ key }) => key.startsWith("list-unsubscribe")).map(({ value }) => value)).toEqual([
      `<${mail.unsubscribeUrl}>`,
      "List-Unsubscribe=One-Click",
    ])
  })
})
