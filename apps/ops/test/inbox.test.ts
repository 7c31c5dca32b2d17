import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

/** Seeds an organization that sent an event for an unknown program, and an event that can be applied. */
const seed = () =>
  meanwhile(function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    const about = (slug: string) => ({ npi: npi(0), consumer_program_slug: slug })
    yield* receiveEvent(seeded, "evt_a", "clinician.learner_qualified", about("nowhere"))
    yield* receiveEvent(seeded, "evt_b", "clinician.learner_qualified", about("heart-failure"))
    return seeded.organization.id
  })
const apply = () =>
  meanwhile(function* () {
    while (yield* applyBatches) {}
  })

describe("inbox", () => {
  it("lists quarantined, waiting or applied events", async () => {
    const list = ["inbox", "list", "--organization", await seed()]
    expect((await runJson(...list, "--waiting")).data).toMatchObject([{ event_id: "evt_a" }, { event_id: "evt_b" }])
    await apply()
    expect((await runJson(...list)).data).toMatchObject([{ event_id: "evt_a", state: "set_aside" }])
    expect((await runJson(...list, "--applied")).data).toMatchObject([{ event_id: "evt_b", state: "applied" }])
    expect((await runFailing(...list, "--applied", "--waiting")).code).toBe("invalid_state")
  })

  it("shows an event masked, or as it was received with --reveal", async () => {
    const organization = await seed()
    await apply()
    const show = ["inbox", "show", "--organization", organization, "evt_b"]
    const shown = await runJson(...show)
    expect(shown).toMatchObject({ event_id: "evt_b", state: "applied", reason: null })
    expect(JSON.stringify(shown)).not.toContain(npi(0))
    expect(JSON.parse(shown.content)).toMatchObject({
      ...{ event_id: "evt_b", data: { npi: "(10 characters)", consumer_program_slug: "heart-failure" } },
    })
    expect(JSON.parse((await runJson(...show, "--reveal")).body).data.npi).toBe(npi(0))
  })
})
