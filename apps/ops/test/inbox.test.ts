import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

/** Seeds an organization that sent an event for an unknown program, and an event that can be applied. */
const seed = async () =>
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
const ids = async (...args: ReadonlyArray<string>) =>
  (await runJson("inbox", "list", ...args)).data.map((entry: { event_id: string }) => entry.event_id)

describe("ops inbox", () => {
  it("lists what waits, and what was set aside with its reason", async () => {
    const organization = await seed()
    expect(await ids("--organization", organization, "--waiting")).toEqual(["evt_a", "evt_b"])
    await apply()
    expect(await ids("--organization", organization, "--waiting")).toEqual([])
    const { data, has_more } = await runJson("inbox", "list", "--organization", organization)
    expect(has_more).toBe(false)
    expect(data).toMatchObject([
      {
        event_id: "evt_a",
        state: "set_aside",
        reason: "data.consumer_program_slug names no program of the organization",
      },
    ])
  })

  it("lists what was applied, narrowed by type, reason and time of receipt, and counts by reason and by hour", async () => {
    const organization = await seed()
    await apply()
    const inOrganization = ["--organization", organization] as const
    expect(await ids(...inOrganization, "--applied")).toEqual(["evt_b"])
    expect(await ids(...inOrganization, "--applied", "--type", "clinician.account_created")).toEqual([])
    expect(await ids(...inOrganization, "--applied", "--to", "2026-01-01T00:00:00Z")).toEqual([])
    const reason = "data.consumer_program_slug names no program of the organization"
    expect(await ids(...inOrganization, "--reason", reason, "--from", "2026-01-01T00:00:00Z")).toEqual(["evt_a"])
    expect((await runFailing("inbox", "list", "--applied", "--waiting")).code).toBe("invalid_state")
    const { data: reasons } = await runJson("inbox", "count-reasons", ...inOrganization)
    expect(reasons).toMatchObject([{ count: 1, type: "clinician.learner_qualified", reason }])
    const { data: hours } = await runJson("inbox", "count-hours", ...inOrganization, "--last", "2")
    expect(hours).toMatchObject([
      { received: 0, bad_signatures: 0 },
      { received: 0, refused: 0 },
    ])
  })

  it("shows an event with its content masked, and whole only when that is asked for", async () => {
    const organization = await seed()
    await apply()
    const show = ["inbox", "show", "--organization", organization, "evt_b"]
    const shown = await runJson(...show)
    expect(shown).toMatchObject({ event_id: "evt_b", state: "applied", reason: null })
    expect(JSON.stringify(shown)).not.toContain(npi(0))
    expect(JSON.parse(shown.content)).toMatchObject({
      event_id: "evt_b",
      data: { npi: "(10 characters)", consumer_program_slug: "heart-failure" },
    })
    expect(JSON.parse((await runJson(...show, "--reveal")).body).data.npi).toBe(npi(0))
    const unknown = await runFailing("inbox", "show", "--organization", organization, "evt_c")
    expect(unknown.code).toBe("inbox_entry_not_found")
  })

  it("replays one event, or all that were set aside", async () => {
    const organization = await seed()
    await apply()
    const replay = ["inbox", "replay", "--organization", organization]
    expect((await runFailing(...replay, "evt_b")).message).toMatch(/is applied, not set aside/)
    expect((await runFailing(...replay)).code).toBe("one_or_all")
    expect((await runFailing(...replay, "evt_a", "--all")).code).toBe("one_or_all")
    expect(await runJson(...replay, "evt_a")).toEqual({ replayed: 1 })
    expect(await ids("--organization", organization, "--waiting")).toEqual(["evt_a"])
    await apply()
    expect(await runJson(...replay, "--all")).toEqual({ replayed: 1 })
    expect(await runJson(...replay, "--all")).toEqual({ replayed: 0 })
  })
})
