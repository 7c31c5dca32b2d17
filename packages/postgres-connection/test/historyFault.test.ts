import { historyFault, type PrimaryStanding, type StandbyStanding } from "@outreach/postgres-connection/historyFault"
import { describe, expect, it } from "vitest"

const primary: PrimaryStanding = { server: "1", identity: "7/00000002/a", position: 10 }
const standby: StandbyStanding = { server: "2", isStandby: true, identity: "7/00000002/a", position: 3 }

describe("historyFault", () => {
  it("finds none where the standby is on the primary's timeline, however far behind", () => {
    expect(historyFault(primary, standby)).toBeUndefined()
  })

  it.each<[string, Partial<StandbyStanding>, Partial<PrimaryStanding>]>([
    ["promoted", { isStandby: false }, {}],
    ["other_cluster", { identity: "8/00000002/a" }, {}],
    ["other_timeline", { identity: "7/00000001/a" }, {}],
    ["other_timeline", { identity: "7/00000003/a" }, {}],
    ["other_timeline", { identity: "7/00000002/b" }, {}],
    ["other_timeline", { identity: "7/00000002/" }, {}],
    ["unknown_primary", { identity: null }, {}],
    ["unknown_primary", {}, { identity: null }],
  ])("finds %s for %j beside %j", (fault, ofStandby, ofPrimary) => {
    expect(historyFault({ ...primary, ...ofPrimary }, { ...standby, ...ofStandby })).toBe(fault)
  })
})
