import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { startProgram } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect } from "effect"
import { afterAll, expect, it } from "vitest"

const url = migratedDatabase()
const folder = temporaryFolder("ops-import", afterAll)

const MAIN = fileURLToPath(import.meta.resolve("../src/main.ts"))

/** Imports a file into a new campaign, in a process with a heap of 160 MB. The program itself takes 40 MB, and a busy machine collects late. */
const importInSmallHeap = async (lines: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) => {
  const file = join(folder, "large.csv")
  writeFileSync(file, lines.join("\n"))
  const { campaign } = await Effect.runPromise(
    Effect.provide(seedCampaign({ recipients: 0, opensIn: 3600 }), adaptersFor(url())),
  )
  const args = ["recipients", "import", "--campaign", campaign.id, file, "--output", "json", ...flags]
  const importing = startProgram(process.execPath, ["--max-old-space-size=160", MAIN, ...args], {
    cwd: folder,
    env: { DATABASE_URL: url() },
  })
  const code = await importing.ended
  const { text: stdout, errors: stderr } = importing
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  const { bad_lines, campaign_id, ...report } = JSON.parse(stdout)
  return { report, badLines: bad_lines }
}

it("imports a file larger than its heap, with an open quote in half of its lines, and writes the rejected lines", async () => {
  // 180 MB.
  const lines = Array.from({ length: 100_000 }, (_, i) => {
    if (i % 50 === 0) return `${npi(i)},c${i}@clinic.test`
    return i % 2 === 0 ? `${i},${"x".repeat(1800)}` : `${npi(i)},"${"x".repeat(1800)}`
  })
  const rejects = join(folder, "rejects.csv")
  const { report, badLines } = await importInSmallHeap(["npi,email", ...lines], "--skip-bad", "--rejects", rejects)
  expect(report).toMatchObject({ imported: 2000, updated: 0, already_there: 0, suppressed: 0, bad_count: 98_000 })
  expect(badLines).toHaveLength(10_000)
  expect(readFileSync(rejects, "utf8").trim().split("\n")).toHaveLength(98_001)
})
