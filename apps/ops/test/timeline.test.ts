import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const seed = Effect.gen(function* () {
  const { organization, campaign, recipients } = yield* seedSentCampaign({ recipients: 2 })
  const recipient = recipients[0]!
  yield* reportBounce(recipient.id, { _tag: "Bounced", reason: "mailbox_disabled" })
  // Another organization writes to the same clinicians.
  yield* seedCampaign({ recipients: 2 })
  return { organization: organization.id, campaign: campaign.id, ...recipient }
})
let seeded: Effect.Success<typeof seed>
beforeAll(async () => {
  seeded = await meanwhile(seed)
})

const find = (...flags: ReadonlyArray<string>) =>
  runJson("recipients", "find", "--organization", seeded.organization, ...flags)

describe("recipients find", () => {
  it("shows a clinician's history, oldest first, by token, recipient id, NPI or address", async () => {
    const timeline = await find("--token", seeded.token, "--reveal")
    const [{ npi, email, id }] = timeline.recipients
    expect(id).toBe(seeded.id)
    expect(timeline.entries).toContainEqual(
      expect.objectContaining({ kind: "bounced", detail: "mailbox_disabled", campaign_id: seeded.campaign }),
    )
    const times = timeline.entries.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted())
    expect(await find("--email", email.toUpperCase(), "--reveal")).toEqual(timeline)
    const few = await find("--id", seeded.id, "--reveal", "--limit", "2")
    expect(few).toMatchObject({ entries: timeline.entries.slice(-2), has_more: true })
    expect((await runJson("recipients", "find", "--npi", npi)).recipients).toHaveLength(2)
  })

  it("masks the NPI and the address without --reveal", async () => {
    const [{ npi, email }] = (await find("--token", seeded.token, "--reveal")).recipients
    const { stdout } = await run(["recipients", "find", "--token", seeded.token])
    expect(stdout).toMatch(/•{6}\d{4}/)
    expect(stdout).toContain("c•••@clinic.test")
    for (const personal of [npi, email]) expect(stdout).not.toContain(personal)
  })

  it("names the endpoint of each delivery", async () => {
    const { entries, deliveries } = await find("--token", seeded.token)
    const [first] = deliveries
    expect(first).toMatchObject({
      state: "pending",
      endpoint_id: expect.stringMatching(/^whe_/),
      url: expect.anything(),
    })
    expect(entries.map(({ event_id }: { event_id: string }) => event_id)).toContain(first.event_id)
    expect((await run(["recipients", "find", "--token", seeded.token])).stdout).toContain(first.url)
  })

  it.each([[[]], [["--npi", npi(0), "--token", "aB3dE9"]]])(
    "requires one way to name the clinician: %s",
    async (flags) => {
      expect(await runFailing("recipients", "find", ...flags)).toMatchObject({ code: "unclear_clinician", exit: 1 })
    },
  )
})

it("events are shown masked, or as they are sent with --reveal, which is audited", async () => {
  const filters = ["--campaign", seeded.campaign, "--recipient", seeded.id, "--type", "outreach.recipients_published"]
  const [event, ...others] = (await runJson("events", "list", ...filters)).data
  expect(others).toEqual([])
  expect(JSON.stringify(await runJson("events", "show", event.id))).not.toContain(seeded.token)
  expect((await runJson("events", "show", event.id, "--reveal")).body).toContain(seeded.token)
  const { data } = await runJson("audit", "list", "--limit", "1")
  expect(data[0]).toMatchObject({ command: "events show", arguments: { event: event.id, reveal: true } })
})
