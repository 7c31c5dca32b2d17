import { EVENTS } from "@outreach/contract"
import type { CampaignStatus } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { Deployment, PreflightSettings } from "@outreach/domain/Deployment"
import { type CampaignId, createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import { createProgram, updateProgram } from "@outreach/domain/programs/Programs"
import { RecipientRepository, recipientsFrom } from "@outreach/domain/recipients/Recipient"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { SENDER, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns } from "@outreach/testing/sendCampaign"
import { column, inTransaction, sql, value, whileOpen } from "@outreach/testing/sql"
import { Deferred, Effect, Exit } from "effect"
import { beforeEach, describe, expect } from "vitest"

const { run, test } = testsOnDatabase()

// Publishing and advancing process all campaigns, so each test starts without an active one.
beforeEach(() => run(cancelCampaigns))

const published = EVENTS["outreach.recipients_published"].envelope

const status = Effect.fnUntraced(function* (id: CampaignId) {
  return (yield* (yield* CampaignRepository).find(id)).status
})
const events = (organizationId: OrganizationId) =>
  Effect.map(
    column<string>`select body from events where organization_id = ${organizationId} order by emitted_at`,
    (bodies) => bodies.map((body) => published.parse(JSON.parse(body))),
  )

describe("publishChunk", () => {
  test("publishes recipients in chunks of at most 500, one event each, and updates the campaign's status", function* () {
    const { organization, program, campaign } = yield* seedCampaign({ recipients: 501, emailDomain: "x.io" })
    yield* scheduleCampaign(campaign.id)
    const statuses: Array<CampaignStatus> = []
    while (yield* publishChunk()) statuses.push(yield* status(campaign.id))
    expect(statuses).toEqual(["publishing", "published"])

    const envelopes = yield* events(organization.id)
    expect(envelopes.map(({ data }) => data.recipients.length)).toEqual([500, 1])
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
    expect([announced.size, kept.length]).toEqual([501, 501])
    for (const { id, token, npi, email, updatedAt } of kept) {
      expect(announced.get(id)).toEqual({ service_recipient_id: id, token, npi, email, updatedAt })
    }
    const { recipients, published, queued, ...others } = yield* (yield* CampaignRepository).progress(campaign.id)
    expect([recipients, published, queued, ...new Set(Object.values(others))]).toEqual([501, 501, 501, 0])
  })

  test("publishes long addresses in events of at most 64 KiB, each recipient once", function* () {
    const emailDomain = `${"clinic.".repeat(30)}test`
    const { organization, campaign } = yield* seedCampaign({ recipients: 300, emailDomain })
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    expect(yield* status(campaign.id)).toBe("published")
    const largest = yield* value<number>`
      select max(octet_length(body)) as largest from events where organization_id = ${organization.id}`
    expect(largest).toBeLessThanOrEqual(65_536)
    const announced = (yield* events(organization.id)).flatMap(({ data }) => data.recipients)
    expect([announced.length, new Set(announced.map(({ token }) => token)).size]).toEqual([300, 300])
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).queued).toBe(300)
  })

  test("doesn't create an empty event after a full last chunk or without recipients", function* () {
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

  test("skips drafts and paused campaigns, and continues where it stopped", function* () {
    const repository = yield* CampaignRepository
    const { organization, campaign } = yield* seedCampaign({ recipients: 501, emailDomain: "x.io" })
    expect(yield* publishChunk()).toBe(false)
    yield* scheduleCampaign(campaign.id)
    expect(yield* publishChunk()).toBe(true)
    yield* commandCampaign(campaign.id, "pause")
    expect(yield* publishChunk()).toBe(false)
    expect((yield* repository.progress(campaign.id)).published).toBe(500)
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    expect((yield* events(organization.id)).map(({ data }) => data.recipients.length)).toEqual([500, 1])
  })

  test("lets two publishers process two campaigns concurrently, but never the same one", function* () {
    const first = yield* seedCampaign({ recipients: 2 })
    // The publication records its domains afterwards, here in the open transaction, so the campaigns use different domains.
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

  test("publishes the other campaigns if one always fails, and then fails", function* () {
    const failing = yield* seedCampaign({ recipients: 1 })
    const { campaign } = yield* seedCampaign({ recipients: 501, opensIn: 60, emailDomain: "other.test" })
    for (const { id } of [failing.campaign, campaign]) yield* scheduleCampaign(id)
    // A message that already exists can't be queued.
    yield* sql`
      insert into messages (organization_id, recipient_id, campaign_id, due_at)
      select organization_id, id, campaign_id, now() from recipients where campaign_id = ${failing.campaign.id}`
    expect([yield* publishChunk(), yield* publishChunk()]).toEqual([true, true])
    expect([yield* status(failing.campaign.id), yield* status(campaign.id)]).toEqual(["scheduled", "published"])
    expect(Exit.isFailure(yield* Effect.exit(publishChunk()))).toBe(true)
  })

  test("doesn't forward events of a survey campaign", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 2 })
    yield* sql`update campaigns set kind = 'survey' where id = ${campaign.id}`
    yield* scheduleCampaign(campaign.id)
    while (yield* publishChunk()) {}
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).queued).toBe(2)
    expect(yield* events(organization.id)).toEqual([])
  })
})

test("CampaignRepositoryPg.create rejects an unknown program, an invalid or past window, and a broken template", function* () {
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

describe("createCampaign", () => {
  test("rejects an e-mail without the sender's identity or an unsubscribe link, also for surveys", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    for (const kind of ["traffic", "survey"] as const) {
      const refused = yield* Effect.flip(createCampaign({ ...campaign, kind, html: "<p>{{ sender_name }}</p>" }))
      expect(refused).toMatchObject({ _tag: "SenderNotShown", missing: ["postalAddress", "unsubscribeUrl"] })
    }
  })

  test("checks the templates with the program's own sender", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const subjectFor = (name: string) => `{% if sender_name == "${name}" %}News{% endif %}`
    yield* createCampaign({ ...campaign, subject: subjectFor(SENDER.senderName) })
    const refused = yield* Effect.flip(createCampaign({ ...campaign, subject: subjectFor("Sender") }))
    expect(refused).toMatchObject({ _tag: "InvalidTemplate", part: "subject" })
  })

  test("rejects a program without a sender", function* () {
    const { campaign, organization } = yield* seedCampaign({ recipients: 0 })
    const { id: programId } = yield* createProgram({
      organizationId: organization.id,
      slug: "earlier",
      name: "Earlier",
    })
    const create = createCampaign({ ...campaign, programId })
    expect(yield* Effect.flip(create)).toMatchObject({ _tag: "ProgramWithoutSender", programId })
    yield* updateProgram(programId, { senderName: "Acme Health" })
    const refused = yield* Effect.flip(create)
    expect(refused.message).toContain(`The program ${programId} has no sender name or no postal address`)
    const postalAddress = "2 High Street, Salem, OR 97301"
    expect(yield* updateProgram(programId, { postalAddress })).toMatchObject({
      senderName: "Acme Health",
      postalAddress,
    })
    expect((yield* create).status).toBe("draft")
  })
})

describe("CampaignRepositoryPg.move", () => {
  test("rejects actions that the campaign's status doesn't allow, with the status", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    expect(yield* Effect.flip(commandCampaign(campaign.id, "pause"))).toMatchObject({
      _tag: "CampaignNotInStatus",
      status: "draft",
    })
    expect((yield* commandCampaign(campaign.id, "cancel")).status).toBe("cancelled")
    expect(yield* Effect.flip(scheduleCampaign(campaign.id))).toMatchObject({ status: "cancelled" })
    const unknown = yield* createIdentifier("campaign")
    expect(yield* Effect.flip(commandCampaign(unknown, "cancel"))).toMatchObject({ _tag: "CampaignNotFound" })
  })

  test("stores who paused or cancelled a campaign, when and why, until it is resumed", function* () {
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
})

test("CampaignRepositoryPg.summaries returns only the campaigns of the organization, with their programs", function* () {
  const ours = yield* seedCampaign({ recipients: 0 })
  const theirs = yield* seedCampaign({ recipients: 0 })
  const ids = [ours.campaign.id, theirs.campaign.id]
  const summaries = yield* (yield* CampaignRepository).summaries(ours.organization.id, ids)
  expect([...summaries.keys()]).toEqual([ours.campaign.id])
  const { campaign, program } = summaries.get(ours.campaign.id)!
  expect(program).toEqual(ours.program)
  expect(ours.campaign).toMatchObject(campaign)
})

const endWindow = Effect.fnUntraced(function* (id: CampaignId) {
  yield* sql`
    update campaigns set window_start = clock_timestamp() - interval '1 day',
      window_end = clock_timestamp() - interval '1 second'
    where id = ${id}`
})

describe("CampaignRepositoryPg.openAndComplete", () => {
  const openAndComplete = Effect.flatMap(CampaignRepository, (campaigns) => campaigns.openAndComplete)
  const queued = Effect.fnUntraced(function* (id: CampaignId) {
    return (yield* (yield* CampaignRepository).progress(id)).queued
  })
  const publishedCampaign = Effect.fnUntraced(function* (options: { recipients: number; opensIn?: number }) {
    const { campaign } = yield* seedCampaign(options)
    yield* scheduleCampaign(campaign.id, { force: ["recipients"] })
    while (yield* publishChunk()) {}
    return campaign.id
  })

  test("opens a published campaign at the start of its window, and not before", function* () {
    const now = yield* publishedCampaign({ recipients: 1 })
    const later = yield* publishedCampaign({ recipients: 1, opensIn: 600 })
    yield* openAndComplete
    expect([yield* status(now), yield* status(later)]).toEqual(["sending", "published"])
  })

  test("returns the time until the next window opens or closes", function* () {
    yield* sql`update campaigns set status = 'cancelled'`
    expect(yield* openAndComplete).toBeGreaterThan(3_600_000)
    yield* publishedCampaign({ recipients: 1, opensIn: 600 })
    const untilWindow = yield* openAndComplete
    expect(untilWindow).toBeGreaterThan(1000)
    expect(untilWindow).toBeLessThanOrEqual(600_000)
    const sending = yield* publishedCampaign({ recipients: 1, opensIn: -60 })
    yield* sql`update campaigns set window_end = clock_timestamp() + interval '5 minutes' where id = ${sending}`
    const untilEnd = yield* openAndComplete
    expect(untilEnd).toBeGreaterThan(1000)
    expect(untilEnd).toBeLessThanOrEqual(300_000)
  })

  test("completes a campaign after its last message", function* () {
    const id = yield* publishedCampaign({ recipients: 1 })
    yield* sql`delete from messages where campaign_id = ${id}`
    yield* openAndComplete
    expect(yield* status(id)).toBe("completed")
  })

  test("leaves an empty campaign open until its window ends, because recipients can still be imported", function* () {
    const id = yield* publishedCampaign({ recipients: 0 })
    yield* openAndComplete
    expect(yield* status(id)).toBe("sending")
    yield* endWindow(id)
    yield* openAndComplete
    expect(yield* status(id)).toBe("completed")
  })

  test("completes a campaign at the end of its window, and drops unsent messages", function* () {
    const id = yield* publishedCampaign({ recipients: 3 })
    yield* openAndComplete
    yield* endWindow(id)
    yield* openAndComplete
    expect([yield* status(id), yield* queued(id)]).toEqual(["completed", 0])
  })

  test("waits for messages that a worker has leased", function* () {
    const id = yield* publishedCampaign({ recipients: 3 })
    yield* openAndComplete
    expect(yield* claimMessages({ limit: 1, leaseSeconds: 60, perMinute: null, perDomainMinute: null })).toHaveLength(1)
    yield* endWindow(id)
    yield* openAndComplete
    expect([yield* status(id), yield* queued(id)]).toEqual(["sending", 3])

    yield* commandCampaign(id, "cancel")
    yield* openAndComplete
    expect(yield* queued(id)).toBe(1)
  })

  test("keeps a paused campaign's messages", function* () {
    const id = yield* publishedCampaign({ recipients: 3 })
    yield* commandCampaign(id, "pause")
    yield* openAndComplete
    expect([yield* status(id), yield* queued(id)]).toEqual(["paused", 3])
  })

  test("restores lost turns in the order of their organizations, so that workers never deadlock", function* () {
    const [first, ...others] = Array.from({ length: 6 }, (_, i) => `org_${i}`)
    yield* sql`
      insert into campaign_turns (organization_id, campaign_id, next_at)
      select id, 'cmp_0', clock_timestamp() from unnest(${[first, ...others]}::text[]) as id`
    const give = (id: string | undefined) =>
      sql`insert into organization_turns (organization_id, next_at) values (${id}, '-infinity')`
    const begun = yield* Deferred.make<void>()
    const worker = Effect.gen(function* () {
      yield* give(first)
      yield* Deferred.succeed(begun, undefined)
      yield* Effect.repeat(sql`select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))`, {
        until: ({ length }) => length > 0,
      })
      yield* Effect.forEach(others, give)
    })
    yield* Effect.all([inTransaction(worker), Effect.andThen(Deferred.await(begun), openAndComplete)], {
      concurrency: "unbounded",
    })
    for (const table of ["campaign_turns", "organization_turns"]) {
      expect(yield* sql`delete from ${sql(table)} where organization_id like 'org\\__' returning true`).toHaveLength(6)
    }
  })
})

describe("scheduling a campaign", () => {
  test("is rejected while a check fails, and lists every failed check with advice", function* () {
    const { campaign, program, organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`update programs set status = 'archived' where id = ${program.id}`
    yield* sql`update signing_secrets set expires_at = clock_timestamp() where organization_id = ${organization.id}`
    const refused = yield* Effect.flip(scheduleCampaign(campaign.id))
    expect(refused).toMatchObject({ _tag: "CampaignNotReady", campaignId: campaign.id })
    for (const words of [
      "recipients: No recipient is imported.",
      "program: The program",
      "signing_secret: No signing secret is active for 1 enabled endpoint.",
      "by forcing recipients,program,signing_secret",
    ]) {
      expect(refused.message).toContain(words)
    }
    expect(yield* status(campaign.id)).toBe("draft")
  })

  test("overrides only the named checks", function* () {
    const { campaign, program } = yield* seedCampaign({ recipients: 0 })
    yield* sql`update programs set completer_target = 1 where id = ${program.id}`
    yield* sql`
      insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
        account_created_total, learner_qualified_total, completer_qualified_total)
      select organization_id, id, current_date, 0, 0, 1, 0, 0, 1 from programs where id = ${program.id}`
    const force = (...checks: ReadonlyArray<"recipients" | "quota" | "window">) =>
      scheduleCampaign(campaign.id, { force: checks })
    const refused = yield* Effect.flip(force("recipients", "window"))
    expect(refused.message).toMatch(/^Campaign \S+ is not ready: 1 of 15 checks failed\.\nquota: /)
    expect((yield* force("recipients", "quota")).status).toBe("scheduled")
  })

  test("also checks a campaign that is resumed, and its program can't be archived while it is under way", function* () {
    const { campaign, program } = yield* seedCampaign({ recipients: 2 })
    yield* scheduleCampaign(campaign.id)
    const archive = updateProgram(program.id, { status: "archived" })
    const inUse = { _tag: "ProgramInUse", campaignIds: [campaign.id] }
    expect(yield* Effect.flip(archive)).toMatchObject(inUse)
    yield* commandCampaign(campaign.id, "pause")
    yield* archive
    expect(yield* Effect.flip(scheduleCampaign(campaign.id, { command: "resume" }))).toMatchObject({
      _tag: "CampaignNotReady",
    })
    expect((yield* scheduleCampaign(campaign.id, { command: "resume", force: ["program"] })).status).toBe("scheduled")
  })

  test("is rejected in production while PUBLIC_BASE_URL isn't https", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 1 })
    const at = (publicBaseUrl: string) =>
      scheduleCampaign(campaign.id).pipe(
        Effect.provideService(Deployment, { livemode: true }),
        Effect.provideService(PreflightSettings, { signsMail: true, publicBaseUrl }),
      )
    expect((yield* Effect.flip(at("http://outreach.test"))).message).toContain("public_base_url: ")
    expect((yield* at("https://outreach.test")).status).toBe("scheduled")
  })
})
