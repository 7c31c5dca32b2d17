import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { MAX_KEPT } from "@outreach/backoffice/recipients/ImportLog"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-imports-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const csv = (...lines: ReadonlyArray<string>): string => {
  const path = join(folder, `jane.doe@clinic.test ${files++}.csv`)
  writeFileSync(path, ["npi,email", ...lines].join("\n"))
  return path
}
const line = (i: number): string => `${npi(i)},clinician${i}@clinic.test`

const draft = async () => {
  const { campaign } = await meanwhile(seedCampaign({ recipients: 0 }))
  const load = (path: string, ...flags: ReadonlyArray<string>) => [
    ...["recipients", "import", "--campaign", campaign.id, path],
    ...flags,
  ]
  const list = async () => (await runJson("imports", "list", "--campaign", campaign.id)).data
  return { campaign, load, list }
}

describe("the record of an import", () => {
  it("says who imported when, how many lines had which outcome, and why lines were refused", async () => {
    const { load, list } = await draft()
    await runJson(...load(csv(line(1), line(1), "12,x@clinic.test", line(2)), "--skip-bad"))
    await runJson(...load(csv(line(1), line(3), `${npi(2)},other@clinic.test`), "--skip-bad"))
    const timestamp = expect.stringMatching(/^\d{4}-.*Z$/)
    const common = { id: expect.stringMatching(/^imp_/), operator: expect.stringMatching(/./), begun_at: timestamp }
    const ended = { ended_at: timestamp, status: "finished", fault: null, updated: 0, suppressed: 0 }
    const imports = await list()
    expect(imports).toMatchObject([
      { ...common, ...ended, lines: 3, imported: 1, already_there: 1, repeated: 0, rejected: 1 },
      { ...common, ...ended, lines: 4, imported: 2, already_there: 0, repeated: 1, rejected: 1 },
    ])
    expect((await runJson("imports", "show", imports[0].id)).data).toEqual([
      { line: 4, reason: "the campaign has this NPI with another e-mail address" },
    ])
    expect((await run(["imports", "show", imports[1].id])).stdout).toMatch(/^line +reason\n4 +the NPI has too few/)
  })

  it("stands also for an import that ended before its time, with the reason, and names neither people nor files", async () => {
    const { load, list } = await draft()
    await runFailing(...load(csv(line(1), "12,x@clinic.test")))
    await runFailing(...load(csv(...Array.from({ length: 150 }, (_, i) => line(i)), "x".repeat(200_000)), "--skip-bad"))
    const imports = await list()
    expect(imports).toMatchObject([
      { status: "failed", fault: "A file cannot be used: line 152 is longer than 64 KiB.", lines: null, imported: 0 },
      { status: "failed", fault: expect.stringMatching(/^1 bad line; nothing was imported/), lines: 2, rejected: 1 },
    ])
    expect((await runJson("imports", "show", imports[1].id)).data).toMatchObject([{ line: 3 }])
    expect(JSON.stringify(imports)).not.toContain("@")
  })

  it("is not made by a check, nor by a file that cannot be used at all", async () => {
    const { load, list } = await draft()
    await runJson(...load(csv(line(1)), "--check"))
    await runFailing(...load(join(folder, "none.csv")))
    expect(await list()).toEqual([])
  })

  it("says that its process is gone once it has shown no life for minutes", async () => {
    const { load, list } = await draft()
    await runJson(...load(csv(line(1))))
    const change = (at: string) =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) => sql`update imports set ended_at = null, active_at = clock_timestamp() - ${at}::interval`,
        ),
      )
    await change("1 second")
    expect(await list()).toMatchObject([{ status: "running", imported: 1 }])
    await change("10 minutes")
    expect(await list()).toMatchObject([{ status: "interrupted", imported: 1 }])
  })

  it("keeps the newest of a campaign, and of each the first refused lines", async () => {
    const { campaign, load, list } = await draft()
    await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          insert into imports (organization_id, campaign_id, operator, ended_at)
          select ${campaign.organizationId}, ${campaign.id}, 'earlier ' || i, clock_timestamp()
          from generate_series(1, ${MAX_KEPT.imports + 5}) i`,
      ),
    )
    await runJson(...load(csv(...Array.from({ length: MAX_KEPT.rejects + 500 }, () => "1,2")), "--skip-bad"))
    expect(await list()).toHaveLength(50)
    const all = (await runJson("imports", "list", "--campaign", campaign.id, "--limit", "1000")).data
    expect(all).toHaveLength(MAX_KEPT.imports)
    expect(all[0]).toMatchObject({ rejected: MAX_KEPT.rejects + 500 })
    expect((await runJson("imports", "show", all[0].id)).data).toHaveLength(MAX_KEPT.rejects)
  })

  it("is found by its id alone", async () => {
    expect(await runFailing("imports", "show", `imp_${"0".repeat(32)}`)).toMatchObject({
      code: "import_not_found",
    })
  })
})
