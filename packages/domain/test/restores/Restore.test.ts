import { describe, expect, it } from "vitest"
import { type DatabaseState, decideService } from "../../src/restores/Restore.ts"

const home = "7711060699332017234/00000001"
const promoted = "7711060699332017234/00000002"
const elsewhere = "7711060699332017999/00000001"

const stateWith = (about: Partial<DatabaseState>): DatabaseState => ({
  fault: null,
  recorded: home,
  current: home,
  unseenSeconds: 3,
  now: 0,
  ...about,
})

describe("decideService", () => {
  it("serves a database at its recorded location, or if the server doesn't report its location", () => {
    expect(decideService(stateWith({}), 0)).toBe("serve")
    expect(decideService(stateWith({ current: null }), 0)).toBe("serve")
    expect(decideService(stateWith({ recorded: null, current: null, unseenSeconds: null }), 0)).toBe("serve")
  })

  it("records where a database is that no worker has seen", () => {
    expect(decideService(stateWith({ recorded: null, unseenSeconds: null }), 0)).toBe("record")
  })

  it("waits during a restore, even within the time allowed for a failover", () => {
    expect(decideService(stateWith({ fault: "restoring" }), 3600)).toBe("wait")
  })

  it.each([
    ["waits without a time for failovers", promoted, 3, 0, "wait"],
    ["goes on when the workers saw the database a moment ago", promoted, 59, 60, "record"],
    ["waits when they saw it longer ago, as after a restore", promoted, 61, 60, "wait"],
    ["waits on another cluster, however fresh it is", elsewhere, 3, 60, "wait"],
    ["waits without a time for failovers, even when its clock was set back", promoted, -5, 0, "wait"],
  ] as const)("after a promotion %s", (_, current, unseenSeconds, failoverSeconds, decision) => {
    expect(decideService(stateWith({ fault: "moved", current, unseenSeconds }), failoverSeconds)).toBe(decision)
  })

  it.each([
    ["an earlier timeline, as when an old primary returns", home],
    ["another timeline of the same number", `${promoted}/0-2@2`],
  ])("waits on %s, even within the time allowed for a failover", (_, current) => {
    expect(decideService(stateWith({ fault: "moved", recorded: `${promoted}/0-1@1`, current }), 60)).toBe("wait")
  })
})
