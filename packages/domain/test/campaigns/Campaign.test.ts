import { describe, expect, it } from "vitest"
import {
  CAMPAIGN_STATUSES,
  type CampaignStatus,
  CLOSED,
  type Command,
  IMPORTABLE,
  TRANSITIONS,
  WORKER_TRANSITIONS,
} from "../../src/campaigns/Campaign.ts"

/** Where each command leads from each status; undefined where it is refused. */
const table: Record<CampaignStatus, Partial<Record<Command, CampaignStatus>>> = {
  draft: { schedule: "scheduled", cancel: "cancelled" },
  scheduled: { pause: "paused", cancel: "cancelled" },
  publishing: { pause: "paused", cancel: "cancelled" },
  published: { pause: "paused", cancel: "cancelled" },
  sending: { pause: "paused", cancel: "cancelled" },
  paused: { schedule: "scheduled", resume: "scheduled", cancel: "cancelled" },
  completed: {},
  cancelled: {},
}

describe("TRANSITIONS", () => {
  it.each(CAMPAIGN_STATUSES)("allows from %s what the table says, and nothing else", (status) => {
    const allowed = Object.entries(TRANSITIONS).flatMap(([command, { from, to }]) =>
      (from as ReadonlyArray<CampaignStatus>).includes(status) ? [[command, to]] : [],
    )
    expect(Object.fromEntries(allowed)).toEqual(table[status])
  })
})

describe("a campaign's transitions, the worker's included", () => {
  const transitions = Object.values({ ...TRANSITIONS, ...WORKER_TRANSITIONS })
  const leads = (status: CampaignStatus) =>
    transitions.flatMap(({ from, to }) => ((from as ReadonlyArray<CampaignStatus>).includes(status) ? [to] : []))

  it("lead from a draft to every status", () => {
    const reached = new Set<CampaignStatus>(["draft"])
    for (const status of reached) for (const next of leads(status)) reached.add(next)
    expect([...reached].sort()).toEqual([...CAMPAIGN_STATUSES].sort())
  })

  it("end where a campaign is closed, and nowhere else", () => {
    expect(CAMPAIGN_STATUSES.filter((status) => leads(status).length === 0)).toEqual(CLOSED)
  })
})

describe("IMPORTABLE", () => {
  it("holds only statuses that have yet to be scheduled, so that no import misses its publication", () => {
    expect([...IMPORTABLE].sort()).toEqual([...TRANSITIONS.schedule.from].sort())
  })
})
