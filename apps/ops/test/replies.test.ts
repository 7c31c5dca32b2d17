import { seedPerson } from "@outreach/testing/seedPerson"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

describe("ops replies", () => {
  it("lists who waits without what they wrote, shows it when asked to, and takes it off the list", async () => {
    const { recipientId, organization, campaign } = await meanwhile(seedPerson())
    await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          insert into replies (organization_id, recipient_id, number, subject, text, received_at)
          values (${organization.id}, ${recipientId}, 2, 'Older', ${"one\ntwo \u001b[2J"}, now() - interval '1 day')`,
      ),
    )
    const ofOrganization = ["--organization", organization.id]
    const list = (await runJson("replies", "list", ...ofOrganization)).data
    expect(list).toMatchObject([
      { number: 2, characters: 17, done_at: null },
      { recipient_id: recipientId, number: 1 },
    ])
    expect((await run(["replies", "list"])).stdout).not.toMatch(/Question|Older/)

    const masked = await runJson("replies", "show", recipientId)
    expect(masked).toMatchObject({ organization_id: organization.id, campaign_id: campaign.id })
    expect(JSON.stringify(masked)).not.toMatch(/Question|Older/)
    const { stdout } = await run(["replies", "show", recipientId, "--reveal"])
    expect(stdout).toMatch(/subject +Older\n\none\ntwo \uFFFD\[2J\n\n[\s\S]*subject +Question\n\nWrite to /)

    expect(await runJson("replies", "mark-done", recipientId)).toEqual({ recipient_id: recipientId, done: 2 })
    expect(await runJson("replies", "mark-done", recipientId)).toMatchObject({ done: 0 })
    expect((await runJson("replies", "list", ...ofOrganization)).data).toEqual([])
    expect((await runJson("replies", "list", ...ofOrganization, "--all", "--limit", "1")).data).toMatchObject([
      { number: 1, done_at: expect.any(String) },
    ])
    const found = await runJson("recipients", "find", "--id", recipientId)
    expect(found.entries).toContainEqual(expect.objectContaining({ kind: "replied", detail: "done" }))
  })

  it("says that nothing is kept of a recipient who wrote nothing", async () => {
    const id = `rcp_${"0".repeat(32)}`
    for (const command of ["show", "mark-done"]) {
      const { code, stderr } = await run(["replies", command, id])
      expect({ code, stderr }).toEqual({ code: 1, stderr: `No reply of ${id} is kept.\n` })
    }
  })
})
