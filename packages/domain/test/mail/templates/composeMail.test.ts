import { describe, expect, it } from "vitest"
import { CampaignId, OrganizationId, ProgramId, RecipientId } from "../../../src/Identifier.ts"
import type { MessageTemplate } from "../../../src/mail/Message.ts"
import { composeMail } from "../../../src/mail/templates/composeMail.ts"
import { EmailAddress } from "../../../src/recipients/Clinician.ts"
import { BASE, testLinks } from "../testLinks.ts"
import { testReturnPaths } from "../testReturnPaths.ts"

const links = testLinks()
const returnPaths = testReturnPaths("bounces.acme.test")
const template: MessageTemplate = {
  subject: "An invitation to {{ program_name }}",
  html: `<a href="{{ short_link }}">Take part</a> <a href="{{ unsubscribe_url }}">No more</a>`,
  text: null,
  preheader: null,
  campaignName: "Spring",
  programName: "Heart & lung",
  senderName: null,
  postalAddress: null,
  shortLink: "https://go.partner.test/{token}?a=1&b=2",
  fields: [],
}
const recipient = {
  organizationId: OrganizationId.make(`org_${"0".repeat(32)}`),
  recipientId: RecipientId.make(`rcp_${"1".repeat(32)}`),
  campaignId: CampaignId.make(`cmp_${"2".repeat(32)}`),
  programId: ProgramId.make(`pgm_${"3".repeat(32)}`),
  token: "aB3dE9",
  email: EmailAddress.make("clinician@clinic.test"),
}

const sender = {
  id: null,
  from: { name: "Acme", address: "outreach@Acme.test" },
  replyTo: null,
  bounceDomain: null,
  linkDomain: null,
  dkim: null,
}

const settings = { links, returnPaths, sender, receivesMail: true }

describe("composeMail", () => {
  const mail = composeMail(template, settings)(recipient)

  it("names the recipient only in the Message-ID, the return path and the unsubscription", () => {
    expect(mail).toMatchObject({
      to: "clinician@clinic.test",
      subject: "An invitation to Heart & lung",
      messageId: `<${recipient.recipientId}@acme.test>`,
      returnPath: returnPaths.of(recipient.recipientId),
      unsubscribeUrl: links.unsubscribe(recipient),
      unsubscribeAddress: returnPaths.unsubscribe(recipient.recipientId),
    })
    expect(mail.html).not.toContain("clinician@clinic.test")
  })

  it("names the campaign, the program, the organization and the sender in the Feedback-ID", () => {
    const { campaignId, programId, organizationId } = recipient
    expect(mail.feedbackId).toBe(`${campaignId}:${programId}:${organizationId}:outreach`)
  })

  it("returns to the bounce domain of its sender", () => {
    const own = { ...settings, sender: { ...sender, bounceDomain: "b.acme.test" } }
    expect(composeMail(template, own)(recipient)).toMatchObject({
      returnPath: returnPaths.of(recipient.recipientId, "b.acme.test"),
      unsubscribeAddress: returnPaths.unsubscribe(recipient.recipientId, "b.acme.test"),
    })
  })

  it("offers to unsubscribe by mail only where mail is received", () => {
    const deaf = composeMail(template, { ...settings, receivesMail: false })(recipient)
    expect(deaf).toEqual({ ...mail, unsubscribeAddress: null })
  })

  it("has its links, its pixel and its unsubscription below the link domain of its sender", () => {
    const own = { ...settings, sender: { ...sender, linkDomain: "click.acme.test" } }
    const ofDomain = composeMail(template, own)(recipient)
    const moved = (text = "") => text.replaceAll(BASE, "https://click.acme.test")
    expect(ofDomain).toMatchObject({
      html: moved(mail.html),
      text: moved(mail.text),
      unsubscribeUrl: moved(mail.unsubscribeUrl),
      returnPath: mail.returnPath,
    })
    expect(JSON.stringify(ofDomain)).not.toContain(BASE)
  })

  it("redirects each link through the service, including the partner's own, except the unsubscription", () => {
    const [click, unsubscribe] = [...mail.html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!)
    expect(links.read("click", click!.split("/l/")[1]!)).toMatchObject({
      recipientId: recipient.recipientId,
      destination: "https://go.partner.test/aB3dE9?a=1&b=2",
    })
    expect(unsubscribe).toBe(mail.unsubscribeUrl)
    expect(mail.html).toContain(links.open(recipient))
  })

  it("folds line breaks in a field, so that a subject can't start another header", () => {
    const subject = "For {{ first_name }}: {{ program_name }}"
    const compose = composeMail({ ...template, subject, fields: ["first_name"] }, settings)
    const first_name = "Ann\r\nBcc: all@x.test\n\n <Lee>"
    expect(compose({ ...recipient, fields: { first_name } }).subject).toBe(
      "For Ann Bcc: all@x.test <Lee>: Heart & lung",
    )
  })
})
