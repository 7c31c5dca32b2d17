import { eventually } from "@outreach/testing/eventually"
import type { Fault } from "./Fault.ts"
import { GROUPS } from "./groups.ts"
import { type Measured, runFault } from "./runFault.ts"
import { startStage } from "./startStage.ts"

/** Runs the selected faults: those of a group one after another, and the groups concurrently, each on a separate stage. */
export const runGroups = async (artifact: string, isWanted: (fault: Fault) => boolean) => {
  const measured = new Map<string, Measured>()
  const skipped: Array<string> = []
  const problems: Array<string> = []
  const runGroup = async ({ name, faults }: (typeof GROUPS)[number]) => {
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
    GROUPS.map((group) =>
      runGroup(group).catch((error: Error) => {
        problems.push(`${group.name}: ${error.stack}`)
      }),
    ),
  )
  return { measured, skipped, problems }
}
