import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { SuppressionReader } from "@outreach/backoffice/suppressions/SuppressionReader"
import type { Suppression } from "@outreach/domain/suppressions/Suppression"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { type Answer, startConsole } from "./startConsole.ts"

const test = startConsole()

/** Seeds an organization with a number of suppressed NPIs and addresses, and signs in an operator of it. */
const seed = async (count: number) => {
  const { organization, program } = await test().run(
    Effect.gen(function* () {
      const seeded = yield* seedCampaign({ recipients: 1 })
      const sql = yield* SqlClient.SqlClient
      yield* sql`
        insert into suppressions (organization_id, program_id, kind, value, reason)
        select ${seeded.organization.id}, ${seeded.program.id}, 'npi', npi, 'account_created'
        from unnest(${Array.from({ length: count }, (_, i) => npi(i))}::text[]) as npi`
      yield* sql`
        insert into organization_suppressions (organization_id, kind, value, reason, applied_at)
        values (${seeded.organization.id}, 'email', ${email(7)}, 'bounced', now())`
      return seeded
    }),
  )
  const operator = await test().as("operator", organization.id)
  const entries = () =>
    test().run(
      Effect.flatMap(SuppressionReader, (reader) =>
        Effect.map(
          reader.list({ organizationId: organization.id }, { limit: 500 }),
          ({ suppressions }) => suppressions,
        ),
      ),
    )
  const audit = () =>
    test().run(Effect.flatMap(AuditLog.make, (log) => log.list({ organizationId: organization.id }, 5)))
  return { organization: organization.id, program: program.id, operator, entries, audit }
}

const rowsOf = ({ document }: Answer) => {
  const table = [...document.querySelectorAll("table")].find((each) => each.textContent?.includes("Since"))
  return [...(table?.querySelectorAll("tbody tr") ?? [])].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent),
  )
}

describe("the suppressions", () => {
  it("are listed with masked values, by pages whose addresses hold none", async () => {
    const { operator } = await seed(60)
    const first = await operator.get("/suppressions")
    expect(rowsOf(first)).toHaveLength(50)
    const next = first.document.querySelector("a[rel=next]")!.getAttribute("href")!
    expect(next).toMatch(/^\/suppressions\?after=[^&]*%7E\d+$/)
    const second = await operator.get(next)
    expect(rowsOf(second)).toHaveLength(11)
    expect(second.document.querySelector("a[rel=next]")).toBeNull()
    for (const { text } of [first, second]) {
      for (let i = 0; i < 60; i++) expect(text).not.toContain(npi(i))
      expect(text).not.toContain(email(7))
    }
  })

  it("are counted for each program and for the organization, and filtered", async () => {
    const { operator, organization, program } = await seed(3)
    const page = await operator.get("/suppressions")
    const links = [...page.document.querySelectorAll("main td a")].map((a) => [a.getAttribute("href"), a.textContent])
    expect(links).toEqual([
      [`/suppressions?organization=${organization}&scope=organization`, "1"],
      [`/suppressions?organization=${organization}&program=${program}`, "3"],
    ])
    for (const [href, count] of links) expect(rowsOf(await operator.get(href!))).toHaveLength(Number(count))
    expect(rowsOf(await operator.get("/suppressions?kind=email"))).toHaveLength(1)
    expect(rowsOf(await operator.get("/suppressions?reason=operator"))).toHaveLength(0)
    const wrong = await operator.get("/suppressions?reason=whim")
    expect(wrong.status).toBe(400)
    expect(wrong.words).toContain("Reason is not valid")
  })

  it("are added with a reason, in a program or in the organization", async () => {
    const { operator, organization, program, entries, audit } = await seed(0)
    const reason = "asked by phone"
    const clinician = { npi: npi(0), email: "New@clinic.test" }
    expect((await operator.post("/suppressions/add", { program, ...clinician })).words).toContain("Reason is missing")
    expect((await operator.post("/suppressions/add", { program, reason })).words).toContain("Give an NPI")
    const added = await operator.post("/suppressions/add", { program, reason, ...clinician })
    expect(added.words).toContain("Suppressed: 2 new entries, 1 waiting recipients withdrawn")
    await operator.post("/suppressions/add", { organization, reason, npi: npi(4) })
    expect((await entries()).map(({ value, programId }: Suppression) => [value, programId])).toEqual(
      expect.arrayContaining([
        [npi(0), program],
        ["new@clinic.test", program],
        [npi(4), null],
      ]),
    )
    expect((await audit()).slice(0, 2)).toMatchObject([
      { command: "suppressions create", arguments: { organization, npi: null, reason } },
      { command: "suppressions create", arguments: { program, npi: null, email: null, reason } },
    ])
  })

  it("are shown to an operator, and lifted one by one", async () => {
    const { operator, organization, entries, audit } = await seed(2)
    const shown = await operator.post("/suppressions/show", { kind: "npi" })
    expect(shown.words).toContain(npi(0))
    expect((await audit())[0]).toMatchObject({ command: "suppressions list", arguments: { kind: "npi" } })
    const form = [...shown.document.querySelectorAll("td form")].find((each) =>
      each.querySelector(`input[value="${npi(0)}"]`),
    )!
    const fields = Object.fromEntries(
      [...form.querySelectorAll("input[type=hidden]")].map((input) => [
        input.getAttribute("name")!,
        input.getAttribute("value")!,
      ]),
    )
    const lifted = await operator.post(form.getAttribute("action")!, { ...fields, reason: "a mistake" })
    expect(lifted.words).toContain("Lifted: 1 entries")
    expect((await entries()).map(({ value }) => value)).not.toContain(npi(0))
    await operator.post("/suppressions/lift", { organization, email: email(7), reason: "the mailbox is back" })
    expect((await entries()).map(({ value }) => value)).toEqual([npi(1)])
  })

  it("can neither be shown nor changed by a viewer", async () => {
    const { organization } = await seed(1)
    const viewer = await test().as("viewer", organization)
    for (const action of ["show", "add", "lift"]) {
      expect((await viewer.post(`/suppressions/${action}`, { npi: npi(0), reason: "no" })).status).toBe(403)
    }
    expect((await viewer.get("/suppressions")).document.querySelectorAll("main form[method=post]")).toHaveLength(0)
  })
})
