import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

/** Seeds an organization that sent an event for an unknown program, and an event that can be applied. */
const seed = () =>
  meanwhile(
    Effect.gen(function* () {
      const seeded = yield* seedCampaign({ recipients: 0 })
      const about = (slug: string) => ({ npi: npi(0), consumer_program_slug: slug })
      yield* receiveEvent(seeded, "evt_a", "clinician.learner_qualified", about("nowhere"))
      yield* receiveEvent(seeded, "evt_b", "clinician.learner_qualified", about("heart-failure"))
      return seeded.organization.id
    }),
  )
const apply = () =>
  meanwhile(
    Effect.gen(function* () {
      while (yield* applyBatches) {}
    }),
  )
const reason = "data.consumer_program_slug names no program of the organization"

describe("inbox", () => {
  it("lists waiting, quarantined and applied events", async () => {
    const of = ["--organization", await seed()]
    const ids = async (...flags: ReadonlyArray<string>) =>
      (await runJson("inbox", "list", ...of, ...flags)).data.map((entry: { event_id: string }) => entry.event_id)
    expect(await ids("--waiting")).toEqual(["evt_a", "evt_b"])
    await apply()
    expect(await ids("--waiting")).toEqual([])
    expect(await runJson("inbox", "list", ...of)).toMatchObject({
      ...{ data: [{ event_id: "evt_a", state: "set_aside", reason }], has_more: false },
    })
    expect(await ids("--applied")).toEqual(["evt_b"])
    expect(await ids("--applied", "--type", "clinician.account_created")).toEqual([])
    expect(await ids("--applied", "--to", "2026-01-01T00:00:00Z")).toEqual([])
    expect(await ids("--reason", reason, "--from", "2026-01-01T00:00:00Z")).toEqual(["evt_a"])
    expect((await runFailing("inbox", "list", "--applied", "--waiting")).code).toBe("invalid_state")
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
