import { describe, expect, it } from "vitest"
import {
  CAMPAIGN_STATUSES,
  type CampaignStatus,
  CLOSED,
  type Command,
  statusAfterPublication,
  TRANSITIONS,
  WORKER_TRANSITIONS,
} from "../../src/campaigns/Campaign.ts"

/** Resulting status of each command by current status; undefined if it is rejected. */
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
  it.each(CAMPAIGN_STATUSES)("allows only the commands in the table from %s", (status) => {
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

  it("reach every status from a draft", () => {
    const reached = new Set<CampaignStatus>(["draft"])
    for (const status of reached) for (const next of leads(status)) reached.add(next)
    expect([...reached].sort()).toEqual([...CAMPAIGN_STATUSES].sort())
  })

  it("end only in closed statuses", () => {
    expect(CAMPAIGN_STATUSES.filter((status) => leads(status).length === 0)).toEqual(CLOSED)
  })
})

it.each([
  ["all that there were to announce", { limit: 500, read: 203, announced: 203 }, "published"],
  ["nobody, because there was nobody", { limit: 500, read: 0, announced: 0 }, "published"],
  ["as many as were read, so that there may be more", { limit: 500, read: 500, announced: 500 }, "publishing"],
  ["as many as fit into one event, of fewer than were read", { limit: 500, read: 203, announced: 202 }, "publishing"],
] as const)("statusAfterPublication follows the announcement of %s", (_, count, status) => {
  expect(statusAfterPublication(count)).toBe(status)
})
