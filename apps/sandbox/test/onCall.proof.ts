import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { buildArtifact, REPOSITORY } from "./artifact.ts"
import type { Fault } from "./oncall/Fault.ts"
import { FAULTS, GROUPS } from "./oncall/groups.ts"
import { formatTable, PAGE, withTable } from "./oncall/onCallTable.ts"
import { type Measured, runFault } from "./oncall/runFault.ts"
import { findPrograms, startStage } from "./oncall/startStage.ts"

/** Runs the selected faults: those of a group one after another, and the groups concurrently, each on a separate stage. */
const runGroups = async (artifact: string, isWanted: (fault: Fault) => boolean) => {
  const measured = new Map<string, Measured>()
  const skipped: Array<string> = []
  const problems: Array<string> = []
  const runGroup = async (name: string, faults: ReadonlyArray<Fault>) => {
    const wanted = faults.filter(isWanted)
    if (wanted.length === 0) return
    await using resources = new AsyncDisposableStack()
    const stage = await startStage({ artifact, hasClocks: name === "clocks" }, (end) => resources.defer(end))
    for (const fault of wanted) {
      const missing = fault.lacks?.(stage)
      if (missing !== undefined) {
        process.stderr.write(`${fault.name}: skipped, because ${missing}\n`)
        skipped.push(fault.name)
        continue
      }
      const found = await runFault(fault, stage)
      problems.push(...found.problems)
      if (found.problems.length === 0) measured.set(fault.name, found)
    }
    const ids = stage.traffic.accepted.map(({ id }) => id)
    await eventually(
      () => stage.admin(`select from inbox where applied_at is null`),
      (rows) => rows.length === 0,
    )
    const stored = await stage.admin("select event_id from inbox")
    const held = new Set(stored.map(({ event_id }) => event_id))
    const lost = ids.filter((id) => !held.has(id)).length
    if (lost > 0) problems.push(`${name}: ${lost} of ${ids.length} inbound events that were accepted are lost`)
  }
  await Promise.all(
    Object.entries(GROUPS).map(([name, faults]) =>
      runGroup(name, faults).catch((error: Error) => {
        problems.push(`${name}: ${error.stack}`)
      }),
    ),
  )
  return { measured, skipped, problems }
}

const all = FAULTS.map(({ name }) => name)
/** The short form contains signs of each kind on one stage. `pnpm prove:oncall` runs all faults, or those in `FAULTS`; `WRITE_TABLE` updates the page. */
const { FAULTS: selection = "postgresql-stopped,schema-too-old", WRITE_TABLE } = process.env
const wanted = selection === "all" ? all : selection.split(",")

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
    writeFileSync(path, withTable(page, formatTable(measured, page)))
  }
  expect(problems).toEqual([])
  expect(new Set([...measured.keys(), ...skipped])).toEqual(new Set(wanted))
})
