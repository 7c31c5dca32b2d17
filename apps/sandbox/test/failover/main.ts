import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { buildArtifact } from "../artifact.ts"
import { type Outcome, runScenario, type Scenario } from "./runScenario.ts"
import {
  brokenByAsynchronous,
  brokenByReading,
  brokenByReadingPromoted,
  brokenBySynchronous,
  brokenByTwo,
  brokenByWaiting,
  dropped,
  gone,
  halfOpen,
  killed,
  lagging,
  mute,
  oneOfTwo,
  readingBehind,
  readingPromoted,
  severalHosts,
  twice,
  waiting,
} from "./scenarios.ts"

const { values } = parseArgs({
  options: {
    scenario: { type: "string" },
    seconds: { type: "string", default: "60" },
    processes: { type: "string", default: "3" },
  },
})

interface Proof {
  readonly scenario: Scenario
  readonly broken: (outcome: Outcome) => ReadonlyArray<string>
  /** The same without what keeps a promise: its run must break that promise, or the check sees nothing. */
  readonly counterexample?: { readonly scenario: Scenario; readonly broken: (outcome: Outcome) => boolean }
}

/** A promotion of an asynchronous standby whose clock is behind. */
const behind = async (seconds: number): Promise<Proof> => {
  const found = findUnpacked("libfaketime")
  if ("missing" in found) throw new Error(found.missing)
  return {
    scenario: lagging(found.program, seconds),
    broken: brokenByAsynchronous,
    counterexample: {
      scenario: lagging(found.program, seconds, { CLOCK_SKEW_SECONDS: "1" }),
      broken: ({ events }) => events.unseen > 0,
    },
  }
}

const proofs: Readonly<Record<string, () => Promise<Proof>>> = {
  1: async () => ({ scenario: killed, broken: brokenBySynchronous }),
  2: async () => ({ scenario: mute, broken: brokenBySynchronous }),
  3: () => behind(10),
  4: async () => ({ scenario: oneOfTwo, broken: brokenByWaiting }),
  5: async () => ({ scenario: severalHosts, broken: brokenBySynchronous }),
  6: async () => ({ scenario: readingBehind, broken: brokenByReading }),
  7: async () => ({ scenario: waiting, broken: brokenBySynchronous }),
  8: async () => ({ scenario: dropped, broken: brokenBySynchronous }),
  9: async () => ({ scenario: halfOpen, broken: brokenBySynchronous }),
  10: async () => ({ scenario: twice, broken: brokenByTwo }),
  11: async () => ({ scenario: gone, broken: brokenBySynchronous }),
  12: async () => ({ scenario: readingPromoted, broken: brokenByReadingPromoted }),
  13: () => behind(5),
  14: () => behind(60),
}

const { scenario: only } = values
if (only !== undefined && !Object.hasOwn(proofs, only)) {
  throw new Error(`--scenario must be one of ${Object.keys(proofs).join(", ")}`)
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))
const run = async (number: string, scenario: Scenario): Promise<Outcome> => {
  console.log(`\n${number}. ${scenario.title}`)
  const options = { folder, processes: Number(values.processes), seconds: Number(values.seconds) }
  const outcome = await runScenario(scenario, options)
  console.dir(outcome, { depth: 3, compact: 3, breakLength: 140 })
  return outcome
}
const folder = mkdtempSync(join(tmpdir(), "outreach-failover-"))
process.once("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
await buildArtifact(folder)
for (const number of only === undefined ? Object.keys(proofs) : [only]) {
  const { scenario, broken, counterexample } = await proofs[number]!()
  const promises = [...broken(await run(number, scenario))]
  if (counterexample !== undefined && !counterexample.broken(await run(number, counterexample.scenario))) {
    promises.push("the counterexample broke nothing, so the check sees nothing")
  }
  for (const promise of promises) console.log(`BROKEN: ${promise}`)
  if (promises.length === 0) console.log("kept every promise")
  else process.exitCode = 1
}
