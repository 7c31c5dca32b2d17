import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

const newest = (programId: string) =>
  test().run(function* () {
    const rows = yield* sql<{
      id: string
    }>`select id from campaigns where program_id = ${programId} order by id desc limit 1`
    return yield* (yield* CampaignRepository).find(rows[0]!.id as never)
  })

const seed = () => test().run(seedCampaign({ recipients: 2 }))

const fieldsOf = (program: string) => ({
  ...{ program, name: "Autumn", kind: "traffic", subject: "About {{ program_name }}", layout: "plain" },
  html: "<p>De\u00adar {{ first_name }}</p>\r\n<p>{{ token }}</p>",
  ...{ fields: "first_name", "window-start": "2099-03-01T09:00", "window-end": "2099-03-02T09:00:00Z" },
})

it("starts with the program of the list, keeps the typed values, and shows each fault at its field", async () => {
  const { program, campaign } = await seed()
  const operator = await test().as("operator")
  const page = `/campaigns?program=${program.id}`
  const { document } = await operator.get(page)
  const chosen = document.querySelector("form[action='/campaigns/new'] select[name=program] option[selected]")
  expect(chosen?.getAttribute("value")).toBe(program.id)
  const refused = async (fields: Record<string, string>) => {
    const { status, document } = await operator.post("/campaigns/new", { ...fieldsOf(program.id), ...fields, page })
    const [fault] = document.querySelectorAll("small.fault")
    const kept = document.querySelector("textarea[name=html]")?.textContent?.replaceAll("&lt;", "<")
    expect(kept).toBe(fieldsOf("").html.replace("\r", ""))
    return [status, fault?.id.replace("-fault", ""), fault?.textContent]
  }
  const cases: ReadonlyArray<readonly [Record<string, string>, number, string, RegExp]> = [
    [{ name: "" }, 400, "name", /^Name is missing/],
    [{ "per-minute": "0" }, 400, "per-minute", /a number of e-mails from 1 to 1000000/],
    [{ "window-end": "2099-03-01T08:00:00Z" }, 409, "window-end", /must end after it starts/],
    [{ subject: "{% if %}" }, 409, "subject", /is not a valid template/],
    [{ text: "{{ frist_name }}" }, 409, "text", /nor a declared field of recipients/],
    [{ layout: "none" }, 409, "html", /does not show the sender name/],
    [{ "short-link": "https://go.test/" }, 409, "short-link", /contains \{token\} once/],
  ]
  for (const [fields, status, name, sentence] of cases) {
    const [found, at = "", text = ""] = await refused(fields)
    expect({ fields, found, at }).toEqual({ fields, found: status, at: name })
    expect(text).toMatch(sentence)
  }
  expect((await newest(program.id)).id).toBe(campaign.id)
})

it("doesn't offer archived programs", async () => {
  const { program } = await seed()
  await test().run(sql`update programs set status = 'archived' where id = ${program.id}`)
  const { document } = await (await test().as("operator")).get(`/campaigns?organization=${program.organizationId}`)
  const offeredBy = (form: string) =>
    [...document.querySelectorAll(`form${form} select[name=program] option`)].map((option) =>
      option.getAttribute("value"),
    )
  expect(offeredBy("[action='/campaigns/new']")).not.toContain(program.id)
  expect(offeredBy("[method=get]")).toContain(program.id)
})

it("accepts a body of 1 MiB, rejects a larger one, and records neither", async () => {
  const { program } = await seed()
  const operator = await test().as("operator")
  const html = `<p>&amp; ${"é".repeat(500_000)}</p>`
  const { words } = await operator.post("/campaigns/new", { ...fieldsOf(program.id), html })
  expect(words).toContain("Draft created.")
  const larger = { ...fieldsOf(program.id), html: "é".repeat(600_000), page: "/campaigns" }
  const { status, document } = await operator.post("/campaigns/new", larger)
  expect(status).toBe(400)
  expect(document.querySelector("#html-fault")?.textContent).toContain("it exceeds 1 MiB")
  expect((await operator.post("/campaigns/new", { ...larger, html: "é".repeat(1_100_000) })).status).toBe(413)
  const rows = await test().run(sql<{ arguments: Record<string, unknown> }>`
    select arguments from audit_log where command = 'campaigns create' order by begun_at desc limit 1`)
  expect(rows[0]!.arguments).toMatchObject({ name: "Autumn", html: null, subject: null, layout: "plain" })
})
