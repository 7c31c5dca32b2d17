import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { type Answer, startConsole } from "./startConsole.ts"

const test = startConsole()

const seed = () =>
  test().run(
    Effect.map(seedCampaign({ recipients: 0 }), ({ organization, program }) => ({
      organization: organization.id,
      program: program.id,
    })),
  )

/** Records commands that concern organizations, oldest first, each in a millisecond of its own: within one, ids have no order. */
const record = (
  ...commands: ReadonlyArray<readonly [command: string, ...organizations: ReadonlyArray<OrganizationId>]>
) =>
  test().run(
    Effect.gen(function* () {
      const log = yield* AuditLog.make
      for (const [command, ...organizations] of commands) {
        const given = { organization: organizations, npi: null, reason: "asked by phone" }
        const id = yield* log.begin({ command, arguments: given, operator: "ada", osUser: "root", host: "h" })
        if (!command.startsWith("unfinished")) yield* log.end(id, { result: "succeeded", code: null })
        const begunBy = yield* Clock.currentTimeMillis
        yield* Effect.repeat(Clock.currentTimeMillis, { until: (now) => now > begunBy })
      }
    }),
  )

const commandsOf = ({ document }: Answer) =>
  [...document.querySelectorAll("main tbody tr td:nth-child(3)")].map((cell) => cell.textContent)

describe("the audit log", () => {
  it("shows who did what, newest first, with links to what was named and without what was withheld", async () => {
    const { organization } = await seed()
    await record(["suppressions create", organization], ["campaigns pause", organization])
    const admin = await test().as("admin")
    const page = await admin.get(`/audit?organization=${organization}`)
    expect(commandsOf(page)).toEqual(["campaigns pause", "suppressions create"])
    expect(page.words).toContain("npi: withheld")
    expect(page.words).toContain("reason: asked by phone")
    expect(page.document.querySelector(`td a[href="/partners/${organization}"]`)).not.toBeNull()
  })

  it("is filtered by command, operator, result and time, and says what is not valid", async () => {
    const { organization } = await seed()
    await record(
      ["campaigns pause", organization],
      ["campaigns resume", organization],
      ["unfinished thing", organization],
    )
    const viewer = await test().as("viewer", organization)
    const shown = async (query: string) => commandsOf(await viewer.get(`/audit?${query}`))
    expect(await shown("command=campaigns")).toEqual(["campaigns resume", "campaigns pause"])
    expect(await shown("command=campaigns+pause")).toEqual(["campaigns pause"])
    expect(await shown("result=unfinished")).toEqual(["unfinished thing"])
    expect(await shown("operator=ada")).toHaveLength(3)
    expect(await shown("operator=nobody")).toHaveLength(0)
    expect(await shown("to=2020-01-01T00:00:00Z")).toHaveLength(0)
    expect(await shown("from=2020-01-01T00:00:00Z")).toHaveLength(3)
    expect((await viewer.get("/audit?result=fine")).words).toContain("Result is not valid")
  })

  it("is paged by its ids", async () => {
    const { organization } = await seed()
    await record(...Array.from({ length: 60 }, (_, i) => [`command ${i}`, organization] as const))
    const viewer = await test().as("viewer", organization)
    const first = await viewer.get("/audit")
    expect(commandsOf(first)).toHaveLength(50)
    const second = await viewer.get(first.document.querySelector("a[rel=next]")!.getAttribute("href")!)
    expect(commandsOf(second)).toEqual(Array.from({ length: 10 }, (_, i) => `command ${9 - i}`))
    expect(second.document.querySelector("a[rel=next]")).toBeNull()
  })

  it("shows an operator of one organization what concerns it, and what they did themselves", async () => {
    const one = await seed()
    const other = await seed()
    await record(["endpoints disable", other.organization], ["digests verify", one.organization, other.organization])
    const viewer = await test().as("viewer", one.organization)
    await viewer.post("/find", { search: npi(5) })
    const page = await viewer.get("/audit")
    expect(commandsOf(page)).toEqual(["recipients find", "digests verify"])
    expect(commandsOf(await viewer.get(`/audit?organization=${one.organization}`))).toHaveLength(2)
    expect((await viewer.get(`/audit?organization=${other.organization}`)).status).toBe(404)
  })

  it("finds a rare command on a later page, and says that an empty page is not the last", async () => {
    const { organization } = await seed()
    await record(["endpoints disable", organization])
    await test().run(
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          insert into audit_log (os_user, host, command, arguments, organizations)
          select 'root', 'h', 'campaigns show', '{}', '{}' from generate_series(1, 5000)`,
      ),
    )
    const admin = await test().as("admin")
    const first = await admin.get(`/audit?organization=${organization}`)
    expect(commandsOf(first)).toEqual([])
    expect(first.words).toContain("The next page looks further back")
    const second = await admin.get(first.document.querySelector("a[rel=next]")!.getAttribute("href")!)
    expect(commandsOf(second)).toEqual(["endpoints disable"])
  })
})
