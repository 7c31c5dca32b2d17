import { publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { judgeHits } from "@outreach/domain/hits/Hits"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { reportComplaint } from "@outreach/domain/mail/Complaints"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

/** Seeds a campaign whose first recipient was sent to, opened, bounced, complained, unsubscribed and signed up. The partner sent two events about them. */
const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedCampaign({ recipients: 2 })
  const { organization, campaign, program } = seeded
  yield* scheduleCampaign(campaign.id)
  yield* publishChunk()
  const [recipient] = yield* sql<{ id: RecipientId; token: string }>`
    update recipients set sent_at = clock_timestamp() where campaign_id = ${campaign.id} and npi = ${npi(0)}
    returning id, token`
  const { id: recipientId, token } = recipient!
  yield* sql`delete from messages where recipient_id = ${recipientId}`
  const hit = { id: yield* createIdentifier("hit"), organizationId: organization.id, recipientId, link: null }
  const request = { method: "HEAD", address: "192.0.2.1", headers: {}, cameAt: yield* Clock.currentTimeMillis }
  yield* (yield* HitRepository).record([{ ...hit, ...request }])
  yield* judgeHits(organization.id)
  yield* reportBounce(recipientId, { _tag: "Bounced", reason: "mailbox_disabled" })
  yield* reportComplaint(recipientId, "abuse")
  yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId })
  const data = { npi: npi(0), consumer_program_slug: program.slug }
  const account = { ...data, email: "clinician0@clinic.test", attribution: "service_token", token }
  yield* receiveEvent(seeded, "evt_a1", "clinician.account_created", account)
  yield* receiveEvent(seeded, "evt_b2", "clinician.learner_qualified", { ...data, consumer_program_slug: "unknown" })
  yield* receiveEvent(seeded, "evt_c3", "clinician.learner_qualified", { ...data, npi: npi(1) })
  yield* applyBatch(organization.id)
  return { organization: organization.id, campaign: campaign.id, program: program.id, recipientId, token }
})

let seeded: Effect.Success<typeof seed>
beforeAll(async () => {
  seeded = await meanwhile(seed)
  // Another organization writes to the same clinicians.
  await meanwhile(seedCampaign({ recipients: 2 }))
})

const find = (...flags: ReadonlyArray<string>) =>
  runJson("recipients", "find", "--organization", seeded.organization, ...flags)

describe("recipients find", () => {
  it("shows a clinician's timeline, with the times, the campaign and the reasons", async () => {
    const { recipients, entries, has_more } = await find("--npi", npi(0))
    expect(recipients).toHaveLength(1)
    expect(has_more).toBe(false)
    const about = {
      organization_id: seeded.organization,
      campaign_id: seeded.campaign,
      recipient_id: seeded.recipientId,
    }
    const kindsAndDetails = entries.map(({ kind, detail }: { kind: string; detail: string | null }) => [kind, detail])
    expect(kindsAndDetails.toSorted()).toEqual(
      [
        ["imported", null],
        ["published", null],
        ["sent", null],
        ["opened", "bot suspected: head, no_user_agent, too_early"],
        ["bounced", "mailbox_disabled"],
        ["complained", "abuse"],
        ["unsubscribed", null],
        ["received", "clinician.account_created, applied"],
        [
          "received",
          "clinician.learner_qualified, set aside: data.consumer_program_slug names no program of the organization",
        ],
        ["suppressed", "npi: account_created"],
        ["suppressed", "email: account_created"],
        ["suppressed", "email: bounced"],
      ].toSorted(),
    )
    const times = entries.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted())
    const opened = entries.find(({ kind }: { kind: string }) => kind === "opened")
    expect(opened).toMatchObject({ ...about, event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/) })
    expect(entries.find(({ event_id }: { event_id: string }) => event_id === "evt_a1")).toMatchObject({
      campaign_id: null,
    })
  })

  it("shows why a recipient was withdrawn", async () => {
    const { entries } = await find("--npi", npi(1))
    const withdrawn = entries.find(({ kind }: { kind: string }) => kind === "withdrawn")
    expect(withdrawn).toMatchObject({ campaign_id: seeded.campaign, detail: "learner_qualified" })
  })

  it("finds the clinician by address, token and recipient id alike", async () => {
    const timeline = await find("--npi", npi(0))
    expect(await find("--email", "Clinician0@CLINIC.test")).toEqual(timeline)
    expect(await find("--token", seeded.token)).toEqual(timeline)
    expect(await find("--id", seeded.recipientId)).toEqual(timeline)
    expect(await runJson("recipients", "find", "--id", seeded.recipientId)).toEqual(timeline)
  })

  it("looks in every organization by default", async () => {
    expect((await runJson("recipients", "find", "--npi", npi(0))).recipients).toHaveLength(2)
    expect(await find("--npi", npi(77))).toEqual({ recipients: [], entries: [], has_more: false })
  })

  it("masks the NPI and the address unless they are to be revealed", async () => {
    const { stdout } = await run(["recipients", "find", "--token", seeded.token])
    expect(stdout).toMatch(/•{6}\d{4}/)
    expect(stdout).toContain("c•••@clinic.test")
    for (const personal of [npi(0), "clinician0@"]) expect(stdout).not.toContain(personal)
    const [revealed] = (await find("--token", seeded.token, "--reveal")).recipients
    expect(revealed).toMatchObject({ npi: npi(0), email: "clinician0@clinic.test" })
  })

  it("shows the newest entries, as many as --limit", async () => {
    const all = await find("--npi", npi(0))
    const few = await find("--npi", npi(0), "--limit", "2")
    expect(few).toEqual({ recipients: all.recipients, entries: all.entries.slice(-2), has_more: true })
  })

  it.each([[[]], [["--npi", npi(0), "--token", "aB3dE9"]]])(
    "needs one way to name the clinician: %s",
    async (flags) => {
      expect(await runFailing("recipients", "find", ...flags)).toMatchObject({ code: "unclear_clinician", exit: 1 })
    },
  )
})
