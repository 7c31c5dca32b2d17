import { describe, expect, it } from "vitest"
import { soak } from "./soak.ts"
import { STEPS } from "./startFleet.ts"

const short = { callSeconds: 1, leaseSeconds: 6, schedule: [1, 1], hopeless: 1 }
const timeout = 240_000

describe("delivery by three workers with wrong clocks to twenty partners of every kind", { timeout }, () => {
  it("comes to its end, and is repeated only for a lost worker, though workers die after a read, before and after a POST, before and inside a write, and in a takeover", async () => {
    const { findings, deaths, tally, maxDuplicates } = await soak({
      ...short,
      events: 600,
      stepDeaths: { each: 1, oneIn: 3 },
    })
    expect(findings).toEqual([])
    expect(Object.keys(deaths)).toEqual(expect.arrayContaining([...STEPS]))
    expect(tally.duplicates).toBeLessThanOrEqual(maxDuplicates)
  })

  it("does so though the database is ended and a backend of it killed", async () => {
    const { findings, outages, tally, maxDuplicates } = await soak({
      ...short,
      // Longer than an outage on a busy machine: otherwise a silent worker loses its endpoints, and calls in flight are repeated.
      leaseSeconds: 45,
      events: 600,
      databaseKills: { everyMs: 700, most: 2 },
    })
    expect(findings).toEqual([])
    expect(outages).toBe(2)
    expect(tally.duplicates).toBeLessThanOrEqual(maxDuplicates)
  })
})
