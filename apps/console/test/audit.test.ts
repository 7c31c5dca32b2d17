import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { expect, it } from "vitest"
import { type Answer, startConsole } from "./startConsole.ts"

const test = startConsole()

const seed = async () => (await test().run(seedCampaign({ recipients: 0 }))).organization.id

type Recorded = readonly [command: string, ...organizations: ReadonlyArray<OrganizationId>]

/** Records commands that concern organizations. */
const record = (...commands: ReadonlyArray<Recorded>) =>
  test().run(function* () {
    const log = yield* AuditLog
    for (const [command, ...organizations] of commands) {
      const given = { organization: organizations, npi: null, reason: "asked by phone" }
      const id = yield* log.begin({ command, arguments: given, operator: "ada", osUser: "root", host: "h" })
      yield* log.end(id, { result: "succeeded", code: null })
    }
  })

/** Returns the listed commands in alphabetical order, because ids of one millisecond have no order. */
const commandsOf = ({ document }: Answer) =>
  [...document.querySelectorAll("main tbody tr td:nth-child(3)")].map((cell) => cell.textContent).sort()

it("shows commands with links to the things they name, and without withheld values", async () => {
  const organization = await seed()
  await record(["suppressions create", organization])
  const page = await (await test().as("admin")).get(`/audit?organization=${organization}`)
  expect(commandsOf(page)).toEqual(["suppressions create"])
  expect(page.words).toContain("npi: withheld")
  expect(page.words).toContain("reason: asked by phone")
  expect(page.document.querySelector(`td a[href="/partners/${organization}"]`)).not.toBeNull()
})

it("shows operators of one organization the commands that concern it, and their own", async () => {
  const [one, other] = [await seed(), await seed()]
  await record(["endpoints disable", other], ["endpoints enable", one, other])
  const viewer = await test().as("viewer", one)
  await viewer.post("/find", { search: npi(5) })
  expect(commandsOf(await viewer.get("/audit"))).toEqual(["endpoints enable", "recipients find"])
})

it("continues on the next page where a page contains no entry that fits", async () => {
  const organization = await seed()
  await record(["endpoints disable", organization])
  await test().run(
    sql`
      insert into audit_log (os_user, host, command, arguments, objects, organizations)
      select 'root', 'h', 'campaigns show', '{}', '{}', '{}' from generate_series(1, 5000)`,
  )
  const admin = await test().as("admin")
  const first = await admin.get(`/audit?organization=${organization}`)
  expect(commandsOf(first)).toEqual([])
  expect(first.words).toContain("More are on the next page")
  const second = await admin.get(first.document.querySelector("a[rel=next]")!.getAttribute("href")!)
  expect(commandsOf(second)).toEqual(["endpoints disable"])
})
