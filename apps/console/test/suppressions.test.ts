import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { type Answer, startConsole } from "./startConsole.ts"

const test = startConsole()

/** Seeds an organization with a number of suppressed NPIs and one address, and signs in an operator of it. */
const seed = async (count: number) => {
  const { organization, program } = await test().run(function* () {
    const seeded = yield* seedCampaign({ recipients: 1 })
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into suppressions (organization_id, program_id, kind, value, reason)
      select ${seeded.organization.id}, ${seeded.program.id}, 'npi', npi, 'account_created'
      from unnest(${Array.from({ length: count }, (_, i) => npi(i))}::text[]) as npi`
    yield* sql`
      insert into suppressions (organization_id, program_id, kind, value, reason)
      values (${seeded.organization.id}, '', 'email', ${email(7)}, 'bounced')`
    return seeded
  })
  const operator = await test().as("operator", organization.id)
  const valuesLeft = async () => {
    const listed = SuppressionReader.use(({ list }) =>
      list({ organizationId: organization.id }, { limit: 500, after: null }),
    )
    return (await test().run(listed)).map(({ value, programId }) => [value, programId])
  }
  return { organization: organization.id, program: program.id, operator, valuesLeft }
}

const rowsOf = ({ document }: Answer) => {
  const table = [...document.querySelectorAll("table")].find((each) => each.textContent?.includes("Since"))
  return [...(table?.querySelectorAll("tbody tr") ?? [])]
}

it("pages through masked values with addresses that contain none", async () => {
  const { operator } = await seed(60)
  const first = await operator.get("/suppressions")
  const next = first.document.querySelector("a[rel=next]")!.getAttribute("href")!
  expect(next).toMatch(/^\/suppressions\?organization=org_\w+&after=[^&]*%2C\d+$/)
  const second = await operator.get(next)
  expect([rowsOf(first).length, rowsOf(second).length]).toEqual([50, 11])
  expect(second.document.querySelector("a[rel=next]")).toBeNull()
  for (const { text } of [first, second]) {
    for (let i = 0; i < 60; i++) expect(text).not.toContain(npi(i))
    expect(text).not.toContain(email(7))
  }
})

it("links the count of each program and of the organization to a list of that length, and filters", async () => {
  const { operator, organization, program } = await seed(3)
  const page = await operator.get("/suppressions")
  const links = [...page.document.querySelectorAll("main td.number a")].map((a) => [
    a.getAttribute("href"),
    a.textContent,
  ])
  expect(links).toEqual([
    [`/suppressions?organization=${organization}&scope=organization`, "1"],
    [`/suppressions?organization=${organization}&program=${program}&scope=program`, "3"],
  ])
  for (const [href, count] of links) expect(rowsOf(await operator.get(href!))).toHaveLength(Number(count))
  expect(rowsOf(await operator.get("/suppressions?kind=email"))).toHaveLength(1)
  expect(rowsOf(await operator.get("/suppressions?reason=operator"))).toHaveLength(0)
})

it("lifts an entry by the form of its row, and another by its address", async () => {
  const { operator, organization, program, valuesLeft } = await seed(2)
  const shown = await operator.post("/suppressions/show", { kind: "npi" })
  expect(shown.words).toContain(npi(0))
  const form = [...shown.document.querySelectorAll("td form")].find((each) =>
    each.querySelector(`input[value="${npi(0)}"]`),
  )!
  const hidden = [...form.querySelectorAll("input[type=hidden]")]
  const fields = Object.fromEntries(hidden.map((input) => [input.getAttribute("name")!, input.getAttribute("value")!]))
  const lifted = await operator.post(form.getAttribute("action")!, { ...fields, reason: "a mistake" })
  expect(lifted.words).toContain("Lifted: 1 entry")
  await operator.post("/suppressions/lift", { organization, email: email(7), reason: "the mailbox is back" })
  expect(await valuesLeft()).toEqual([[npi(1), program]])
})
