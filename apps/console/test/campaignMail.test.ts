import { seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"
import { startMailServer } from "./startMailServer.ts"

// Before the console starts, which reads a file of it.
const mail = startMailServer()
const test = startConsole(mail.settings)

const lastEntry = (command: string) =>
  test().run(
    SqlClient.SqlClient.use(
      (sql) => sql<{ arguments: object; result: string }>`
        select arguments, result from audit_log left join audit_results on command_id = id
        where command = ${command} order by begun_at desc limit 1`,
    ),
  )

describe("the e-mail of a campaign", () => {
  it("is shown in a frame of its own that runs and loads nothing", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    const path = `/campaigns/${campaign.id}/mail`
    const viewer = await test().as("viewer")
    const page = await viewer.get(`${path}?view=phone`)
    const frame = page.document.querySelector("iframe")!
    expect([frame.getAttribute("src"), frame.getAttribute("sandbox")]).toEqual([`${path}/html`, ""])
    expect(frame.getAttribute("title")).toContain("on a phone")
    // Nobody's address is offered to a viewer.
    expect(page.words).not.toContain("@clinic.test")
    const mail = await viewer.get(`${path}/html`)
    const policy = mail.headers.get("content-security-policy")
    for (const rule of [
      "default-src 'none'",
      "sandbox",
      "img-src data:",
      "frame-ancestors 'self'",
      "form-action 'none'",
    ]) {
      expect(policy).toContain(rule)
    }
    expect(policy).not.toContain("script-src")
    expect(mail.text).toContain("Your link:")
    const text = await viewer.get(`${path}/text`)
    expect(text.headers.get("content-type")).toContain("text/plain")
    expect(text.text).toContain("Your link:")
  })

  it("is shown as written to a recipient, masked, to operators, and recorded", async () => {
    const { campaign } = await test().run(
      seedCampaign({
        recipients: 1,
        subjectTest: { subjectB: "News for {{ first_name }}", share: 100, afterSeconds: null },
        fields: ["first_name"],
        fieldsOf: () => ({ first_name: "Dana" }),
      }),
    )
    const [recipient] = await test().run(
      SqlClient.SqlClient.use(
        (sql) => sql<{ id: string; email: string; token: string }>`
          select id, email, token from recipients where campaign_id = ${campaign.id}`,
      ),
    )
    const path = `/campaigns/${campaign.id}/mail`
    const operator = await test().as("operator")
    const text = await operator.get(`${path}/text/${recipient!.id}`)
    expect(text.text).toMatch(/^Subject: An invitation to Heart failure\nSubject B: News for Dana\n\n/)
    const { words } = await operator.get(path)
    expect(words).toContain("News for [first_name]")
    expect(words).toContain("c•••@clinic.test")
    expect(words).not.toContain(recipient!.email)
    const mail = await operator.get(`${path}/html/${recipient!.id}`)
    expect(mail.text).toContain(`https://l.test/${recipient!.token}`)
    expect(mail.text).not.toContain(recipient!.email)
    expect(await lastEntry("campaigns preview")).toMatchObject([
      { arguments: { campaign: campaign.id, recipient: null }, result: "succeeded" },
    ])
    expect((await (await test().as("viewer")).get(`${path}/html/${recipient!.id}`)).status).toBe(403)
    const { campaign: other } = await test().run(seedCampaign({ recipients: 1 }))
    expect((await operator.get(`/campaigns/${other.id}/mail/html/${recipient!.id}`)).status).toBe(404)
  })

  it("is sent as a test to an address that neither the audit log nor a log keeps", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    const operator = await test().as("operator")
    const { words } = await operator.post(`/campaigns/${campaign.id}/test`, { to: "me@acme.test" })
    expect(words).toContain("Test message sent")
    expect(mail.server().messages.map(({ to }) => to)).toEqual([["me@acme.test"]])
    expect(mail.server().messages[0]!.text).toContain(`X-Outreach-Test: ${campaign.id}`)
    expect(await lastEntry("campaigns test")).toMatchObject([{ arguments: { campaign: campaign.id, to: null } }])
    expect(test().logs.join()).not.toContain("me@acme.test")
    const refused = await operator.post(`/campaigns/${campaign.id}/test`, { to: "nobody" })
    expect(refused.words).toContain("Your own address is not valid")
    expect(
      (await (await test().as("viewer")).post(`/campaigns/${campaign.id}/test`, { to: "me@acme.test" })).status,
    ).toBe(403)
  })
})
