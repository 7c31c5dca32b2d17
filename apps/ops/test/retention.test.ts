import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"
import { rejectDelivery } from "./rejectDelivery.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

/** Seeds a dead letter and an event that a partner sent, whose months are dropped then. */
const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedCampaign({ recipients: 1 })
  yield* scheduleCampaign(seeded.campaign.id)
  const { deliveryId, endpointId } = yield* rejectDelivery
  yield* receiveEvent(seeded, "evt_a", "clinician.learner_qualified", { npi: npi(0) })
  yield* sql`select add_partitions('events', '2050-01-15Z')`
  yield* sql`truncate events_earlier, inbox_later`
  return { organization: seeded.organization.id, deliveryId, endpointId }
})
let seeded: Effect.Success<typeof seed>
beforeAll(async () => {
  seeded = await meanwhile(seed)
})

describe("what is no longer stored", () => {
  it("is told of a delivery's event", async () => {
    expect((await runJson("deliveries", "show", seeded.deliveryId)).delivery.event_type).toBe(null)
    const { stdout } = await run(["deliveries", "show", seeded.deliveryId])
    expect(stdout).toContain("Its event is no longer stored (EVENTS_MONTHS)")
  })

  it("is told of an event that a partner sent", async () => {
    for (const command of ["show", "replay"]) {
      const error = await runFailing("inbox", command, "--organization", seeded.organization, "evt_a")
      expect(error).toMatchObject({ code: "inbox_entry_dropped" })
      expect(error.message).toMatch(/^The event evt_a of org_[0-9a-f]{32} was received at .* no longer stored/)
    }
  })

  it("is told of a log that is asked for from too early on, and of a digest whose events are gone", async () => {
    const note = "No events are kept from before 2050-01-01 (EVENTS_MONTHS).\n"
    const range = ["--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z", "--dry-run"]
    expect(await run(["endpoints", "replay", seeded.endpointId, ...range])).toEqual({
      code: 0,
      stdout: "0 events would be sent.\n",
      stderr: note,
    })
    const later = ["--from", "2050-01-01T00:00:00Z", "--to", "2050-02-01T00:00:00Z", "--dry-run"]
    expect((await run(["endpoints", "replay", seeded.endpointId, ...later])).stderr).toBe("")
    const today = new Date().toISOString().slice(0, 10)
    const { code, stderr } = await run(["digests", "verify", today])
    expect(code).toBe(0)
    expect(stderr).toContain("No events are kept from before 2050-01-01")
  })
})
