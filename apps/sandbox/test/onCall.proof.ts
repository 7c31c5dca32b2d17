import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { expect, it } from "vitest"
import { buildArtifact, REPOSITORY } from "./artifact.ts"
import { GROUPS } from "./oncall/groups.ts"
import { formatTable, PAGE, withTable } from "./oncall/onCallTable.ts"
import { runGroups } from "./oncall/runGroups.ts"
import { findPrograms } from "./oncall/startStage.ts"

const all = GROUPS.flatMap(({ faults }) => faults.map(({ name }) => name))
/** The short form contains signs of each kind on one stage. `pnpm prove:oncall` runs all faults, or those in `FAULTS`; `WRITE_TABLE` updates the page. */
const { FAULTS = "postgresql-stopped,schema-too-old", WRITE_TABLE } = process.env
const wanted = FAULTS === "all" ? all : FAULTS.split(",")

it("shows the signs of each fault, and recovers by the commands of the page", { timeout: 3_600_000 }, async ({
  skip,
}) => {
  const programs = await findPrograms()
  if ("missing" in programs) return skip(programs.missing)
  expect(wanted.filter((name) => !all.includes(name))).toEqual([])
  const folder = temporaryFolder("oncall")
  await buildArtifact(folder)
  const { measured, skipped, problems } = await runGroups(join(folder, "out"), ({ name }) => wanted.includes(name))
  if (WRITE_TABLE !== undefined) {
    const path = join(REPOSITORY, PAGE)
    const page = readFileSync(path, "utf8")
    writeFileSync(path, withTable(page, formatTable(GROUPS, measured, page)))
  }
  expect(problems).toEqual([])
  expect(new Set([...measured.keys(), ...skipped])).toEqual(new Set(wanted))
})
