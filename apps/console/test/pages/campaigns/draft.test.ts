import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign, updateCampaign } from "@outreach/domain/campaigns/Campaigns"
import { FOOTER, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"
import { startMailServer } from "../../startMailServer.ts"

const mail = startMailServer()
const test = startConsole(mail.settings)

const seed = async (options: Partial<Parameters<typeof seedCampaign>[0]> = {}) => {
  const seeded = await test().run(seedCampaign({ recipients: 2, opensIn: 3600, ...options }))
  const { id } = seeded.campaign
  return { ...seeded, id, page: `/campaigns/${id}`, edit: `/campaigns/${id}/edit` }
}
const find = (id: string) => test().run(CampaignRepository.use((campaigns) => campaigns.find(id as never)))

/** The main button of a page: its label and its target. */
const mainOf = ({ document }: Awaited<ReturnType<Visitor["get"]>>) =>
  [...document.querySelectorAll("main .primary")].map((button) => [
    button.textContent,
    button.getAttribute("href") ?? button.closest("form")!.getAttribute("action"),
  ])

describe("the page of a draft", () => {
  it("has the next step as its main button, from the import to the schedule", async () => {
    const { page } = await seed({ recipients: 0 })
    const operator = await test().as("operator")
    expect(mainOf(await operator.get(page))).toEqual([["Import recipients", `${page}/imports/new`]])
    const ready = await seed()
    const to = "me@acme.test"
    expect(mainOf(await operator.get(ready.page))).toEqual([["Send a test", `${ready.page}/test`]])
    const tested = await operator.post(`${ready.page}/test`, { to })
    expect(mainOf(tested)).toEqual([["Schedule…", `${ready.page}/schedule`]])
    await test().run(
      sql`update campaigns set window_start = now() - interval '2 h', window_end = now() - interval '1 h' where id = ${ready.id}`,
    )
    expect(mainOf(await operator.get(ready.page))).toEqual([["Edit the campaign", ready.edit]])
    const viewer = await test().as("viewer")
    expect(mainOf(await viewer.get(page))).toEqual([])
    expect((await viewer.get(page)).words).toContain("nextRecipients No recipient is imported.")
    expect(mail.server().messages.at(-1)!.to).toEqual([to])
  })

  it("links each advice of the preflight to a page", async () => {
    const { page, id, organization, program } = await seed()
    await test().run(function* () {
      yield* sql`update programs set status = 'archived', completer_target = 1 where id = ${program.id}`
      yield* sql`update webhook_endpoints set enabled = false where organization_id = ${organization.id}`
      yield* sql`update recipients set withdrawn_at = now(), withdrawal_reason = 'suppressed' where campaign_id = ${id}`
      yield* sql`update campaigns set html = 'Hi', per_minute = 1, window_end = window_start + interval '1 minute' where id = ${id}`
    })
    const { document } = await (await test().as("operator")).get(page)
    const remedies = [...document.querySelectorAll("section[aria-label=Problems] td:last-child")]
    expect(remedies.length).toBeGreaterThan(5)
    expect(remedies.filter((cell) => cell.querySelector("a") === null).map(({ textContent }) => textContent)).toEqual(
      [],
    )
  })
})

describe("the form of a draft", () => {
  it("shows the e-mail as it was written, saves it, and shows each fault at its field", async () => {
    const { id, edit, page } = await seed()
    const operator = await test().as("operator")
    const fields = { page: edit, layout: "plain", html: "<p>{{ token }}</p>", preheader: "News" }
    expect((await operator.post(edit, fields)).words).toContain("Saved.")
    const { document } = await operator.get(edit)
    const control = (name: string) => document.querySelector(`#edit [name=${name}]`)!
    expect(control("html").textContent!.replaceAll("&lt;", "<")).toBe(fields.html)
    expect(control("layout").querySelector("[selected]")!.getAttribute("value")).toBe("plain")
    const refused = await operator.post(edit, { page: edit, preheader: "{{ nobody }}" })
    const fault = refused.document.querySelector("#preheader-fault")!.textContent
    expect([refused.status, fault]).toEqual([
      409,
      expect.stringContaining("The preheader is not a valid template: it names nobody"),
    ])
    expect((await find(id)).preheader).toBe("News")
    expect(mainOf(await operator.get(page))).toEqual([["Send a test", `${page}/test`]])
  })

  it("is rejected if another operator saved it first, without repeating long texts", async () => {
    const { id, edit } = await seed()
    const { editedAt: version } = await find(id)
    await test().run(updateCampaign(id, { subject: "Theirs", html: `<p>Theirs</p>${FOOTER}` }))
    const mine = { page: edit, version, subject: "Mine", html: `<p>Mine</p>${FOOTER}` }
    const refused = await (await test().as("operator")).post(edit, mine)
    expect(refused.status).toBe(409)
    expect(refused.words).toContain("Subject is now Theirs. HTML differs. Compare your values")
    expect(refused.document.querySelector("#edit [name=subject]")!.getAttribute("value")).toBe("Mine")
    expect((await find(id)).subject).toBe("Theirs")
  })

  it("has only the rate and the pause after scheduling, and its e-mail can't be sent in by hand", async () => {
    const { id, edit } = await seed()
    await test().run(scheduleCampaign(id))
    const operator = await test().as("operator")
    const { document, words } = await operator.get(edit)
    const names = [...document.querySelectorAll("#edit :is(input:not([type=hidden]), select, textarea)")]
    expect(names.map((field) => field.getAttribute("name"))).toEqual(["per-minute", "pause-on-complaints"])
    expect(words).toContain("its name, e-mail and window are fixed")
    const refused = await operator.post(edit, { page: edit, subject: "Late" })
    expect([refused.status, refused.words]).toEqual([
      409,
      expect.stringContaining("Duplicate it to send another version."),
    ])
  })

  it("is not scheduled from a confirmation of an earlier version", async () => {
    const { id, page } = await seed()
    const operator = await test().as("operator")
    const { document } = await operator.get(`${page}/schedule`)
    const version = document.querySelector("form[method=post] [name=version]")!.getAttribute("value")!
    await test().run(updateCampaign(id, { subject: "Changed" }))
    const refused = await operator.post(`${page}/schedule`, { page: `${page}/schedule`, version, force: "" })
    expect([refused.status, refused.words]).toEqual([409, expect.stringContaining("Another operator changed this")])
    expect((await find(id)).status).toBe("draft")
  })
})

describe("the preview of a form", () => {
  it("shows what is typed in the frame's policy, and neither saves nor records it", async () => {
    const { id, page } = await seed()
    const operator = await test().as("operator")
    const log = () => test().run(sql`select from audit_log`)
    const before = [await find(id), await log()]
    const typed = {
      subject: "<b>News</b> for {{ campaign_name }}",
      name: "Typed",
      layout: "plain",
      html: "<p>Typed {{ token }}</p>",
    }
    const html = await operator.post(`${page}/preview/html`, typed)
    expect(html.headers.get("content-security-policy")).toMatch(/^default-src 'none'.*; sandbox$/)
    expect(html.text).toContain("&lt;b&gt;News&lt;/b&gt; for Typed</p>")
    expect(html.text).toContain("<p>Typed aB3dE9</p>")
    expect(html.text).not.toContain("/o/")
    const text = await operator.post(`${page}/preview/text`, typed)
    expect(text.text).toMatch(/^Subject: <b>News<\/b> for Typed\n\nTyped aB3dE9/)
    for (const [fields, fault] of [
      [{ html: "{{ nobody }}" }, "The html is not a valid template: it names nobody"],
      [{ subject: "x".repeat(201) }, "Subject is not valid. It must be 1 to 200 characters"],
      [{ html: "<p>Hi</p>" }, "The html does not show the sender name"],
    ] as const) {
      const answer = await operator.post(`${page}/preview/html`, fields)
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"])
      expect(answer.text).toContain(fault)
    }
    expect([await find(id), await log()]).toEqual(before)
  })
})

it("any campaign is duplicated, and its draft is opened", async () => {
  const { id, page } = await seed()
  await test().run(scheduleCampaign(id))
  const { words, document } = await (await test().as("operator")).post(`${page}/duplicate`)
  expect(words).toContain("Duplicated as the draft “Copy of Spring”, without recipients.")
  expect(document.querySelector("h1")!.textContent).toBe("Copy of Spring")
})
