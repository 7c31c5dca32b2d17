import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const test = startConsole()

it("shows the e-mail in a sandboxed frame that runs no scripts and loads no resources", async () => {
  const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
  const path = `/campaigns/${campaign.id}/mail`
  const viewer = await test().as("viewer")
  const page = await viewer.get(`${path}?view=phone`)
  const frame = page.document.querySelector("iframe")!
  expect([frame.getAttribute("src"), frame.getAttribute("sandbox")]).toEqual([`${path}/html`, ""])
  const mail = await viewer.get(`${path}/html`)
  const policy = mail.headers.get("content-security-policy")
  for (const rule of ["default-src 'none'", "sandbox", "img-src data:", "frame-ancestors 'self'", "form-action 'none'"])
    expect(policy).toContain(rule)
  expect(policy).not.toContain("script-src")
  expect(mail.text).toContain("Your link:")
  const text = await viewer.get(`${path}/text`)
  expect(text.headers.get("content-type")).toContain("text/plain")
  expect(text.text).toContain("Your link:")
})

it("shows the e-mail as written to a recipient, with a masked address, only to operators and for its own campaign", async () => {
  const { campaign } = await test().run(
    seedCampaign({
      recipients: 1,
      subject: "News for {{ first_name }}",
      fields: ["first_name"],
      fieldsOf: () => ({ first_name: "Dana" }),
    }),
  )
  const [recipient] = await test().run(sql<{ id: string; email: string; token: string }>`
    select id, email, token from recipients where campaign_id = ${campaign.id}`)
  const path = `/campaigns/${campaign.id}/mail`
  const [operator, viewer] = [await test().as("operator"), await test().as("viewer")]
  const text = await operator.get(`${path}/text/${recipient!.id}`)
  expect(text.text).toMatch(/^Subject: News for Dana\n\n/)
  const { words } = await operator.get(path)
  expect(words).toContain("News for [first_name]")
  expect(words).toContain("c•••@clinic.test")
  expect(words).not.toContain(recipient!.email)
  expect((await viewer.get(path)).words).not.toContain("@clinic.test")
  const mail = await operator.get(`${path}/html/${recipient!.id}`)
  expect(mail.text).toContain(`https://l.test/${recipient!.token}`)
  expect(mail.text).not.toContain(recipient!.email)
  const { campaign: other } = await test().run(seedCampaign({ recipients: 1 }))
  expect((await operator.get(`/campaigns/${other.id}/mail/html/${recipient!.id}`)).status).toBe(404)
})
