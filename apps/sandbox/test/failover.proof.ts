import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { afterAll, beforeAll, expect, it } from "vitest"
import { buildArtifact } from "./artifact.ts"
import { runScenario, type Scenario } from "./failover/runScenario.ts"
import {
  brokenByAsynchronous,
  brokenBySynchronous,
  brokenByTwo,
  killed,
  lagging,
  mute,
  twice,
  WHENEVER,
} from "./failover/scenarios.ts"

// The short form of `pnpm prove:failover`, which also asks that all is back and no request waits too long.
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-failover-"))
  await buildArtifact(folder)
})
afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})

const run = async (scenario: Scenario) => {
  const outcome = await runScenario(scenario, { folder, processes: 2, seconds: 12 })
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
  return outcome
}

it("loses nothing and comes back by itself when the primary is killed and its synchronous standby is promoted", async () => {
  expect(brokenBySynchronous(await run(killed), WHENEVER)).toEqual([])
})

it("does the same when the primary goes mute without closing a connection", async () => {
  expect(brokenBySynchronous(await run(mute), WHENEVER)).toEqual([])
})

it("does the same when the promoted standby is lost within a minute, and puts the clocks on by one fence", async () => {
  expect(brokenByTwo(await run(twice), WHENEVER)).toEqual([])
})

it("hides no event from a poller when an asynchronous standby is promoted that is behind, and whose clock is", async ({
  skip,
}) => {
  const found = findUnpacked("libfaketime")
  if ("missing" in found) return skip(found.missing)
  const outcome = await run(lagging(found.program, 10))
  expect(brokenByAsynchronous(outcome, WHENEVER)).toEqual([])
  // There was something to lose.
  expect(outcome.inbound.lost).toBeGreaterThan(0)
  expect(outcome.events.lost).toBeGreaterThan(0)
})
