import { describe, expect, it } from "vitest"
import {
  CAMPAIGN_STATUSES,
  type CampaignStatus,
  COMMANDS,
  type Command,
  IMPORTABLE,
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

describe("COMMANDS", () => {
  it.each(CAMPAIGN_STATUSES)("allows from %s what the table says, and nothing else", (status) => {
    const allowed = Object.entries(COMMANDS).flatMap(([command, { from, to }]) =>
      (from as ReadonlyArray<CampaignStatus>).includes(status) ? [[command, to]] : [],
    )
    expect(Object.fromEntries(allowed)).toEqual(table[status])
  })
})

describe("IMPORTABLE", () => {
  it("holds only statuses that have yet to be scheduled, so that no import misses its publication", () => {
    expect([...IMPORTABLE].sort()).toEqual([...COMMANDS.schedule.from].sort())
  })
})
