import { describe, expect } from "@effect/vitest"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { EVENTS } from "@outreach/contract"
import type { CampaignStatus } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, createCampaign, publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { type CampaignId, createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { updateProgram } from "@outreach/domain/programs/Programs"
import { RecipientRepository, recipientsFrom } from "@outreach/domain/recipients/RecipientRepository"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { effectTest } from "@outreach/testing/effectTest"
import { whileOpen } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

const run = runOnDatabase({ layer: DeliveryReader.layer })
const test = effectTest(run)

// Publishing takes whatever campaign is next, so each test begins without any under way.
beforeEach(() => run(cancelCampaigns))

const published = EVENTS["outreach.recipients_published"].envelope

const status = Effect.fnUntraced(function* (id: CampaignId) {
  return (yield* (yield* CampaignRepository).find(id)).status
})
const events = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ body: string }>`
    select body from events where organization_id = ${organizationId} order by emitted_at`
  return rows.map((row) => published.parse(JSON.parse(row.body)))
})

describe("publishChunk", () => {
  test("announces recipients in chunks of at most 500, one event each, and moves the campaign along", function* () {
    const { organization, program, campaign } = yield* seedCampaign({ recipients: 1203, emailDomain: "x.io" })
    yield* scheduleCampaign(campaign.id)
    const statuses: Array<CampaignStatus> = []
    while (yield* publishChunk()) statuses.push(yield* status(campaign.id))
    expect(statuses).toEqual(["publishing", "publishing", "published"])

    const envelopes = yield* events(organization.id)
    expect(envelopes.map(({ data }) => data.recipients.length)).toEqual([500, 500, 203])
    for (const envelope of envelopes) {
      expect(envelope).toMatchObject({ livemode: false, occurred_at: envelope.emitted_at })
      expect(envelope.data).toMatchObject({
        service_campaign_id: campaign.id,
        service_program_id: program.id,
        service_campaign_name: "Spring",
        service_program_name: "Heart failure",
        consumer_program_slug: "heart-failure",
        scheduled_send_window_start: campaign.windowStart,
        scheduled_send_window_end: campaign.windowEnd,
      })
    }

    const announced = new Map(
      envelopes.flatMap(({ emitted_at, data }) =>
        data.recipients.map((it) => [it.service_recipient_id, { ...it, updatedAt: emitted_at }]),
      ),
    )
    const from = recipientsFrom(fromUnixMillis(0))
    const { rows: kept } = yield* (yield* RecipientRepository).page(organization.id, from, 2000)
    expect([announced.size, kept.length]).toEqual([1203, 1203])
    for (const { id, token, npi, email, updatedAt } of kept) {
      expect(announced.get(id)).toEqual({ service_recipient_id: id, token, npi, email, updatedAt })
    }
    expect(yield* (yield* CampaignRepository).progress(campaign.id)).toEqual({
      recipients: 1203,
      published: 1203,
      queued: 1203,
      deferred: 0,
      unknown: 0,
      quarantined: 0,
      refusedLater: 0,
      complained: 0,
      unsubscribed: 0,
      withdrawn: 0,
      sent: 0,
      sentInLastMinute: 0,
      bounced: 0,
      answered: 0,
    })
  })

  test("announces long addresses in events of at most 64 KiB, each recipient once", function* () {
    const emailDomain = `${"clinic.".repeat(30)}test`
    const { organization, campaign } = yield* seedCampaign({ recipients: 700, emailDomain })
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    expect(yield* status(campaign.id)).toBe("published")
    const sql = yield* SqlClient.SqlClient
    const [{ largest } = { largest: 0 }] = yield* sql<{ largest: number }>`
      select max(octet_length(body)) as largest from events where organization_id = ${organization.id}`
    expect(largest).toBeLessThanOrEqual(65_536)
    const announced = (yield* events(organization.id)).flatMap(({ data }) => data.recipients)
    expect([announced.length, new Set(announced.map(({ token }) => token)).size]).toEqual([700, 700])
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).queued).toBe(700)
  })

  test("makes no empty event when the last chunk was full, or nobody was imported", function* () {
    for (const [recipients, expected] of [
      [500, [500]],
      [0, []],
    ] as const) {
      const { organization, campaign } = yield* seedCampaign({ recipients, emailDomain: "x.io" })
      yield* scheduleCampaign(campaign.id, { force: ["recipients"] })
      while (yield* publishChunk()) {}
      expect(yield* status(campaign.id)).toBe("published")
      expect((yield* events(organization.id)).map(({ data }) => data.recipients.length)).toEqual(expected)
    }
  })

  test("gives each event to each endpoint of the organization", function* () {
    const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 3 })
    yield* seedCampaign({ recipients: 0 })
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`
      select id from events where organization_id = ${organization.id}`
    const waiting = yield* (yield* DeliveryReader).list({ endpointId: endpoint.id, limit: 10 })
    expect(waiting.map(({ eventId, state }) => [eventId, state])).toEqual(rows.map(({ id }) => [id, "pending"]))
    expect(waiting).toHaveLength(1)
  })

  test("leaves drafts and paused campaigns alone, and goes on where it stopped", function* () {
    const repository = yield* CampaignRepository
    const { organization, campaign } = yield* seedCampaign({ recipients: 700, emailDomain: "x.io" })
    expect(yield* publishChunk()).toBe(false)
    yield* scheduleCampaign(campaign.id)
    expect(yield* publishChunk()).toBe(true)
    yield* commandCampaign(campaign.id, "pause")
    expect(yield* publishChunk()).toBe(false)
    expect((yield* repository.progress(campaign.id)).published).toBe(500)
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    expect((yield* events(organization.id)).map(({ data }) => data.recipients.length)).toEqual([500, 200])
  })

  test("lets two publishers work at two campaigns, never at the same", function* () {
    const first = yield* seedCampaign({ recipients: 2 })
    // The domains that are written to are noted after the publication, which here is in the transaction that stays open.
    const second = yield* seedCampaign({ recipients: 2, opensIn: 60, emailDomain: "other.test" })
    yield* scheduleCampaign(first.campaign.id)
    yield* scheduleCampaign(second.campaign.id)
    yield* whileOpen(publishChunk(), () =>
      Effect.gen(function* () {
        expect(yield* publishChunk()).toBe(true)
        expect(yield* publishChunk()).toBe(false)
        expect([yield* status(first.campaign.id), yield* status(second.campaign.id)]).toEqual([
          "scheduled",
          "published",
        ])
      }),
    )
    for (const { organization } of [first, second]) {
      expect((yield* events(organization.id)).map(({ data }) => data.recipients.length)).toEqual([2])
    }
  })

  test("forwards no event of a survey campaign", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 2 })
    const sql = yield* SqlClient.SqlClient
    yield* sql`update campaigns set kind = 'survey' where id = ${campaign.id}`
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).queued).toBe(2)
    expect(yield* events(organization.id)).toEqual([])
  })
})

describe("CampaignRepositoryPg.create", () => {
  test("refuses an unknown program, a window that is over or the wrong way round, and a broken template", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const refusal = (change: Partial<typeof campaign>) => Effect.flip(createCampaign({ ...campaign, ...change }))
    const programId = yield* createIdentifier("program")
    expect(yield* refusal({ programId })).toMatchObject({ _tag: "ProgramNotFound", programId })
    expect(yield* refusal({ windowEnd: campaign.windowStart })).toMatchObject({ _tag: "InvalidWindow" })
    expect(
      yield* refusal({ windowStart: fromUnixMillis(0), windowEnd: fromUnixMillis(Date.now() - 1000) }),
    ).toMatchObject({ _tag: "InvalidWindow" })
    expect(yield* refusal({ subject: "{{ nobody }}" })).toMatchObject({ _tag: "InvalidTemplate", part: "subject" })
    expect(yield* refusal({ html: "{{ token" })).toMatchObject({ _tag: "InvalidTemplate", part: "html" })
  })
})

describe("createCampaign", () => {
  test("refuses an e-mail that does not show who sends it and how to unsubscribe, for surveys as well", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    for (const kind of ["traffic", "survey"] as const) {
      const refused = yield* Effect.flip(createCampaign({ ...campaign, kind, html: "<p>{{ sender_name }}</p>" }))
      expect(refused).toMatchObject({ _tag: "SenderNotShown", missing: ["postalAddress", "unsubscribeUrl"] })
      expect(refused.message).toBe(
        "The html does not show the postal address and the link to unsubscribe. Add {{ postal_address }} and {{ unsubscribe_url }} where recipients see it, or let `--layout plain` add a footer.",
      )
    }
  })

  test("refuses a program without a sender until it has one", function* () {
    const { campaign, organization } = yield* seedCampaign({ recipients: 0 })
    const programs = yield* ProgramRepository
    const { id: programId } = yield* programs.create({
      ...{ organizationId: organization.id, id: yield* createIdentifier("program"), slug: "earlier", name: "Earlier" },
      ...{ learnerTarget: null, completerTarget: null },
    })
    const create = createCampaign({ ...campaign, programId })
    expect(yield* Effect.flip(create)).toMatchObject({ _tag: "ProgramWithoutSender", programId })
    yield* updateProgram(programId, { senderName: "Acme Health" })
    const refused = yield* Effect.flip(create)
    expect(refused.message).toContain(`ops programs update ${programId} --sender-name`)
    const postalAddress = "2 High Street, Salem, OR 97301"
    expect(yield* updateProgram(programId, { postalAddress })).toMatchObject({
      senderName: "Acme Health",
      postalAddress,
    })
    expect((yield* create).status).toBe("draft")
  })
})

describe("CampaignRepositoryPg.move", () => {
  test("refuses what the campaign's status does not allow, and says which it is", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    expect(yield* Effect.flip(commandCampaign(campaign.id, "pause"))).toMatchObject({
      _tag: "CampaignNotInStatus",
      status: "draft",
    })
    expect((yield* commandCampaign(campaign.id, "cancel")).status).toBe("cancelled")
    expect(yield* Effect.flip(scheduleCampaign(campaign.id))).toMatchObject({ status: "cancelled" })
    const nobody = yield* createIdentifier("campaign")
    expect(yield* Effect.flip(commandCampaign(nobody, "cancel"))).toMatchObject({ _tag: "CampaignNotFound" })
  })

  test("keeps who paused or cancelled a campaign, when and why, until it goes on", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 1, opensIn: 3600 })
    yield* scheduleCampaign(campaign.id)
    const stop = { stoppedBy: "Jane", stopReason: "the partner asked to wait" }
    const paused = yield* commandCampaign(campaign.id, "pause", stop)
    expect(paused).toMatchObject({ ...stop, stoppedAt: expect.any(String) })
    const none = { stoppedAt: null, stoppedBy: null, stopReason: null }
    expect(yield* scheduleCampaign(campaign.id, { command: "resume" })).toMatchObject(none)
    yield* commandCampaign(campaign.id, "pause", stop)
    expect(yield* commandCampaign(campaign.id, "cancel", { stoppedBy: "Sam" })).toMatchObject({
      stoppedBy: "Sam",
      stopReason: null,
    })
  })

  test("refuses to schedule a campaign whose window is over", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      update campaigns set window_start = clock_timestamp() - interval '1 day',
        window_end = clock_timestamp() - interval '1 second'
      where id = ${campaign.id}`
    expect(yield* Effect.flip(scheduleCampaign(campaign.id))).toMatchObject({
      _tag: "CampaignNotReady",
      failed: ["recipients", "window"],
    })
  })
})

describe("CampaignRepositoryPg.summaries", () => {
  test("reads an organization's own campaigns with their programs, and nothing of another's", function* () {
    const ours = yield* seedCampaign({ recipients: 0 })
    const theirs = yield* seedCampaign({ recipients: 0 })
    const ids = [ours.campaign.id, theirs.campaign.id]
    const summaries = yield* (yield* CampaignRepository).summaries(ours.organization.id, ids)
    const {
      subject: _,
      html: _html,
      text: _text,
      shortLink: _link,
      fields: _fields,
      perMinute: _rate,
      hours: _hours,
      pauseOnComplaints: _pauses,
      stoppedAt: _stoppedAt,
      stoppedBy: _stoppedBy,
      stopReason: _stopReason,
      ...campaign
    } = ours.campaign
    expect([...summaries]).toEqual([[campaign.id, { campaign, program: ours.program }]])
  })
})
