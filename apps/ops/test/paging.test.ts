import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing } = commandLine()

describe("a list", () => {
  it("continues after the row that its note names, as a table, as JSON and as CSV", async () => {
    const named: Array<string> = []
    for (const name of ["Zeroth", "=First", "Second", "Third"])
      named.push((await runJson("organizations", "create", "--name", name)).id)
    const all = (await runJson("organizations", "list", "--limit", "1000")).data.map(({ id }: { id: string }) => id)
    const limit = String(all.indexOf(named[1]) + 1)
    const first = await run(["organizations", "list", "--limit", limit])
    const next = `ops organizations list --limit ${limit} --after ${named[1]}`
    expect(first.stderr).toBe(`There are more: ${next}\n`)
    const rest = await runJson(...next.split(" ").slice(1))
    expect(rest).toMatchObject({ data: [{ id: named[2] }, { id: named[3] }], has_more: false })
    const csv = await run(["organizations", "list", "--output", "csv"])
    expect(csv.stdout.split(/\r?\n/)[0]).toBe("id,name,contacts,created_at,clock_ahead_seconds")
    expect(csv.stdout).toContain(`${named[1]},'=First,0,`)
    expect(await runFailing("organizations", "list", "--after", "org_none")).toMatchObject({ code: "invalid_after" })
  })

  it("continues with the cursor of its reader, over pages that contain every row once", async () => {
    const all = (await runJson("audit", "list")).data.map(({ id }: { id: string }) => id)
    const found: Array<string> = []
    let after: ReadonlyArray<string> = []
    do {
      const page = await runJson("audit", "list", "--limit", "2", ...after)
      found.push(...page.data.map(({ id }: { id: string }) => id))
      after = page.has_more ? ["--after", page.after] : []
    } while (after.length > 0)
    expect(found).toEqual(all)
    expect(await runFailing("events", "list", "--after", "yesterday")).toMatchObject({ code: "invalid_after" })
  })
})
