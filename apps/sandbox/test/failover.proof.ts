import { findProgram } from "@outreach/debian-packages/findProgram"
import { afterTests } from "@outreach/testing/afterTests"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { beforeAll, expect, it } from "vitest"
import { buildArtifact } from "./artifact.ts"
import { laggingStandby } from "./failover/laggingStandby.ts"
import { runScenario } from "./failover/runScenario.ts"

/** `pnpm prove:failover` runs more processes for longer, and prints the outcomes. */
const isLong = process.env["PROVE_FAILOVER"] !== undefined
const libfaketime = findProgram("libfaketime")

const atEnd = afterTests()
let folder: string
beforeAll(async () => {
  folder = temporaryFolder("failover", atEnd)
  await buildArtifact(folder)
})

const run = async (settings: Readonly<Record<string, string>> = {}) => {
  if ("missing" in libfaketime) throw new Error(libfaketime.missing)
  const options = isLong
    ? { processes: 3, recipients: 600, leaseMs: 120_000 }
    : { processes: 2, recipients: 100, leaseMs: 10_000 }
  const outcome = await runScenario(laggingStandby(libfaketime.program, 10, settings), { folder, ...options })
  if (isLong) console.dir(outcome, { depth: 3, compact: 3, breakLength: 140 })
  return outcome
}

it.skipIf("missing" in libfaketime)(
  "hides no event from a poller when an asynchronous standby is promoted that is behind, and its clock too",
  async () => {
    expect(await run()).toMatchObject({
      unfinished: { inbox: 0, hits: 0, webhooks: 0, mails: 0 },
      events: { unseen: 0 },
    })
  },
)

it.skipIf("missing" in libfaketime || !isLong)("finds the hidden events if the fence is too small", async () => {
  expect((await run({ CLOCK_SKEW_SECONDS: "1" })).events.unseen).toBeGreaterThan(0)
})
