import { expect } from "@effect/vitest"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { replayInbox } from "../../src/operations/inbox.ts"

const { test } = testsOnDatabase()

test("a quarantined event is replayed by its id, or together with all others", function* () {
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { id: organizationId } = seeded.organization
  const lost = { npi: npi(0), consumer_program_slug: "nowhere" }
  for (const event of ["evt_a", "evt_b"]) yield* receiveEvent(seeded, event, "clinician.learner_qualified", lost)
  while (yield* applyBatches) {}
  for (const given of [{}, { event: "evt_a", all: true }]) {
    expect(yield* Effect.flip(replayInbox.run({ organizationId, ...given }, "dana"))).toMatchObject({
      _tag: "OneOrAll",
    })
  }
  expect(yield* replayInbox.run({ organizationId, event: "evt_a" }, "dana")).toEqual({ replayed: 1 })
  expect((yield* replayInbox.plan!({ organizationId, all: true })).many).toBe("1 event")
  expect(yield* replayInbox.run({ organizationId, all: true }, "dana")).toEqual({ replayed: 1 })
  expect(yield* replayInbox.run({ organizationId, all: true }, "dana")).toEqual({ replayed: 0 })
})
