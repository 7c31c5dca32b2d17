import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { buildArtifact } from "./artifact.ts"
import { runGroups } from "./oncall/runGroups.ts"
import { findPrograms } from "./oncall/startStage.ts"

/** The short form of `pnpm prove:oncall`: signs of each kind, on one stage. */
const FAULTS = ["postgresql-stopped", "schema-too-old"]

it("each fault is seen by its signs, and the commands of the page make all well again", async ({ skip }) => {
  const programs = await findPrograms()
  if ("missing" in programs) return skip(programs.missing)
  const folder = await mkdtemp(join(tmpdir(), "outreach-oncall-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  await buildArtifact(folder)
  const { measured, problems } = await runGroups({
    artifact: join(folder, "out"),
    isWanted: ({ name }) => FAULTS.includes(name),
    log: () => {},
  })
  expect(problems).toEqual([])
  expect([...measured.keys()]).toEqual(FAULTS)
})
