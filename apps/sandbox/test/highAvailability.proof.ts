import { setTimeout } from "node:timers/promises"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { expect, it } from "vitest"
import { buildArtifact } from "./artifact.ts"
import { runScenario } from "./failover/runScenario.ts"
import type { Host } from "./failover/startNetwork.ts"
import { findPrograms, type Patroni, startPatroni } from "./failover/startPatroni.ts"

/** An API process and a worker use HAProxy, an API process and a worker the list of the servers. */
const PROCESSES = 2
/** Time without HAProxy, or without a standby. */
const FAULT_MS = 10_000
/** How much longer than the database a process may be unavailable. */
const MAX_EXTRA_SECONDS = 5
/** `CLOCK_SKEW_SECONDS`, and a second for each failover within it. */
const MAX_CLOCK_AHEAD_SECONDS = 62

interface Stage extends Pick<Patroni, "lb" | "ready" | "crash"> {
  readonly primary: Host
  readonly standby: Host
  /** Waits until every process works again. */
  readonly again: () => Promise<void>
  /** Waits until another primary works, and then every process. */
  readonly promoted: () => Promise<void>
}

const FAULTS: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  "primary killed": async ({ primary, promoted }) => {
    await primary.kill()
    await promoted()
    await primary.start()
  },
  // The watchdog resets it.
  "primary mute": async ({ primary, promoted }) => {
    await primary.freeze()
    await promoted()
  },
  "network of the primary cut": async ({ primary, promoted }) => {
    await primary.cut()
    await promoted()
    await primary.heal()
  },
  "HAProxy mute": async ({ lb, again }) => {
    await lb.freeze()
    await setTimeout(FAULT_MS)
    await lb.thaw()
    await again()
  },
  "standby killed": async ({ standby, again }) => {
    await standby.kill()
    await setTimeout(FAULT_MS)
    await again()
    await standby.start()
  },
  "two failovers in a row": async ({ primary, ready, crash, promoted }) => {
    await crash(primary)
    await promoted()
    const next = await ready({ standbys: 1 })
    await crash(next.primary)
    await ready({ standbys: 1, after: next.timeline })
  },
}

it("loses and hides no acknowledged data, sends no e-mail twice, and is available with the database", async ({
  skip,
}) => {
  const programs = await findPrograms()
  if ("missing" in programs) return skip(programs.missing)
  const folder = temporaryFolder("ha")
  await buildArtifact(folder)
  const gaps: Record<string, Readonly<Record<string, number>>> = {}
  let resets = 0
  const outcome = await runScenario(
    async (atEnd) => {
      const patroni = await startPatroni(programs, temporaryFolder("patroni", atEnd), atEnd)
      const { lb, ready, crash } = patroni
      return {
        urls: patroni.urls,
        strike: async (successes) => {
          const again = () => successes.again()
          patroni.probe((address) => successes.add(`database ${address}`))
          for (const [name, fault] of Object.entries(FAULTS)) {
            const { primary, standbys, timeline } = await ready()
            await again()
            successes.takeGaps()
            const promoted = async () => {
              await ready({ standbys: 0, after: timeline })
              await again()
            }
            await fault({ lb, ready, crash, primary, standby: standbys[0]!, again, promoted })
            await again()
            gaps[name] = successes.takeGaps()
          }
          resets = patroni.resets()
        },
      }
    },
    { folder, processes: PROCESSES, recipients: 1000, leaseMs: 10_000 },
  )
  if (process.env["PROVE_FAILOVER"] !== undefined) console.dir({ gaps, outcome }, { depth: 4, breakLength: 140 })

  expect(outcome).toMatchObject({
    unfinished: { inbox: 0, hits: 0, webhooks: 0, mails: 0 },
    inbound: { lost: 0 },
    imports: { lost: 0 },
    events: { lost: 0, unseen: 0 },
    mail: { missed: 0, twice: 0 },
    clicks: { lost: 0 },
    requests: { withoutEnvelope: [] },
  })
  expect(outcome.requests.longest).toBeLessThan(10)
  expect(outcome.clockAhead).toBeLessThanOrEqual(MAX_CLOCK_AHEAD_SECONDS)
  expect(resets).toBeGreaterThan(0)
  for (const [fault, parts] of Object.entries(gaps)) {
    for (const [part, gap] of Object.entries(parts)) {
      // A worker may have no work for a moment.
      if (part.startsWith("notifications")) continue
      expect(gap, `${fault}, ${part}`).toBeLessThan(parts[`database ${part.at(-1)}`]! + MAX_EXTRA_SECONDS)
    }
  }
})
