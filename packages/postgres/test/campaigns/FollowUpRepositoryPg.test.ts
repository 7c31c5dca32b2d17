import { describe, expect } from "@effect/vitest"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, createCampaign, publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { FollowUp } from "@outreach/domain/campaigns/FollowUp"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { withdrawClicked } from "@outreach/domain/campaigns/FollowUps"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { RecipientId } from "@outreach/domain/Identifier"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { effectTest } from "@outreach/testing/effectTest"
import { whileOpen } from "@outreach/testing/inTransaction"
import { type Outcome, outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, FOOTER, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

beforeEach(() => run(cancelCampaigns))

const STAMP = "2026-12-01T10:00:00.000000Z"

/** A completed campaign, sent ten days ago to all its recipients. */
const sentCampaign = Effect.fnUntraced(function* (recipients: number) {
  const { campaign } = yield* seedCampaign({ recipients })
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    update recipients set sent_at = clock_timestamp() - interval '10 days', published_at = clock_timestamp() - interval '11 days'
    where campaign_id = ${campaign.id}`
  yield* sql`
    update campaigns set status = 'completed', window_start = clock_timestamp() - interval '11 days',
      window_end = clock_timestamp() - interval '9 days'
    where id = ${campaign.id}`
  return yield* (yield* CampaignRepository).find(campaign.id)
})

/** Adds a follow-up whose window starts in the given number of seconds. */
const follow = Effect.fnUntraced(function* (
  { id, programId }: Campaign,
  followUp: Partial<FollowUp> = {},
  startsIn = 60,
) {
  const start = (yield* Clock.currentTimeMillis) + startsIn * 1000
  return yield* createCampaign({
    programId,
    name: "Reminder",
    kind: "traffic",
    subject: "Your seat at {{ program_name }}",
    html: `<p>https://l.test/{{ token }}</p>${FOOTER}`,
    windowStart: fromUnixMillis(start),
    windowEnd: fromUnixMillis(start + 3_600_000),
    followUp: { followUpOf: id, unless: "clicked", afterSeconds: 5 * 86_400, ...followUp },
  })
})

const publishAll = Effect.gen(function* () {
  while (yield* publishChunk()) {}
})
const draw = Effect.fnUntraced(function* (campaign: Campaign) {
  yield* scheduleCampaign(campaign.id, { force: ["quota"] })
  yield* publishAll
})
const openWindow = Effect.fnUntraced(function* ({ id }: Campaign) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update campaigns set window_start = clock_timestamp() - interval '1 second' where id = ${id}`
  yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${id}`
  yield* (yield* CampaignRepository).openAndComplete
})

const recipientsOf = Effect.fnUntraced(function* ({ id }: Campaign) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ id: RecipientId; npi: string; token: string; isPublished: boolean; reason: string | null }>`
    select id, npi, token, published_at is not null as "isPublished", withdrawal_reason as reason from recipients
    where campaign_id = ${id} order by npi`
})
const npisOf = (campaign: Campaign) => Effect.map(recipientsOf(campaign), (rows) => rows.map(({ npi }) => npi))
const find = (campaign: Campaign) =>
  FollowUpRepository.use((followUps) => followUps.find({ ...campaign, campaignId: campaign.id }))
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => npi(from + i)).sort()

const happen = Effect.fnUntraced(function* (campaign: Campaign, n: number, outcome: Outcome) {
  const recipient = (yield* recipientsOf(campaign)).find((row) => row.npi === npi(n))
  yield* outreachOn(STAMP, campaign, [[recipient!.id, outcome]])
})

describe("a follow-up", () => {
  test("is drawn from those who were sent an e-mail and did not click, each with a token of its own, before its window", function* () {
    const first = yield* sentCampaign(10)
    yield* happen(first, 0, "human clicked")
    yield* happen(first, 1, "bot clicked")
    yield* happen(first, 2, "human opened")
    const sql = yield* SqlClient.SqlClient
    yield* sql`update recipients set sent_at = null where campaign_id = ${first.id} and npi = ${npi(3)}`
    yield* sql`update recipients set bounced_at = clock_timestamp() where campaign_id = ${first.id} and npi = ${npi(4)}`
    // A recipient whose suppression was lifted.
    yield* sql`
      insert into complaints (organization_id, campaign_id, recipient_id, feedback_type)
      select organization_id, campaign_id, id, 'abuse' from recipients where campaign_id = ${first.id} and npi = ${npi(8)}`
    yield* sql`
      insert into late_refusals (organization_id, campaign_id, recipient_id, cause)
      select organization_id, campaign_id, id, 'policy' from recipients where campaign_id = ${first.id} and npi = ${npi(9)}`
    yield* suppressClinicians({ programId: first.programId }, [{ npi: npi(5), email: null }], "operator")
    yield* suppressClinicians({ programId: first.programId }, [{ npi: null, email: email(6) }], "unsubscribed")

    const followUp = yield* follow(first)
    yield* draw(followUp)
    const rows = yield* recipientsOf(followUp)
    expect(rows.map(({ npi, isPublished }) => [npi, isPublished])).toEqual(
      [npi(1), npi(2), npi(7)].sort().map((each) => [each, true]),
    )
    const tokens = (yield* recipientsOf(first)).map(({ token }) => token)
    expect(rows.filter(({ token }) => tokens.includes(token))).toEqual([])
    expect(yield* find(followUp)).toMatchObject({
      drawnAt: expect.any(String),
      skipped: { clicked: 1, not_sent: 1, bounced: 1, refused_later: 1, complained: 1, suppressed: 2 },
    })
    expect((yield* (yield* CampaignRepository).find(followUp.id)).status).toBe("published")
    const events = yield* sql<{ body: string }>`
      select body from events where campaign_id = ${followUp.id} and type = 'outreach.recipients_published'`
    const announced = events.flatMap(({ body }) => JSON.parse(body).data.recipients)
    expect(announced.map(({ token }: { token: string }) => token).sort()).toEqual(rows.map(({ token }) => token).sort())
    expect(yield* claimMessages(100)).toEqual([])
  })

  test("leaves out recipients who have an account, or who have qualified, when it is asked to", function* () {
    const first = yield* sentCampaign(6)
    yield* happen(first, 0, "human clicked")
    const sql = yield* SqlClient.SqlClient
    yield* sql`update recipients set account_created_at = clock_timestamp() where campaign_id = ${first.id} and npi = ${npi(1)}`
    const { organizationId, programId } = first
    const stages = [
      { programId, stage: "account_created", npi: npi(2) },
      { programId, stage: "learner_qualified", npi: npi(3) },
    ] as const
    yield* sql.withTransaction(qualifyOn(organizationId, stages, STAMP as CommitTimestamp))
    const withoutAccount = yield* follow(first, { unless: "account_created" })
    const unqualified = yield* follow(first, { unless: "learner_qualified" })
    yield* draw(withoutAccount)
    yield* draw(unqualified)
    expect(yield* npisOf(withoutAccount)).toEqual([npi(0), npi(4), npi(5)].sort())
    // Whoever has qualified is never written to.
    expect((yield* find(withoutAccount))?.skipped).toEqual({ account_created: 2, suppressed: 1 })
    expect(yield* npisOf(unqualified)).toEqual([npi(0), npi(1), npi(2), npi(4), npi(5)].sort())
    expect((yield* find(unqualified))?.skipped).toEqual({ learner_qualified: 1 })
  })

  test("is drawn an hour before its window, and not before", function* () {
    const first = yield* sentCampaign(3)
    const followUp = yield* follow(first, {}, 7200)
    const other = yield* seedCampaign({ recipients: 1, opensIn: 9000 })
    yield* scheduleCampaign(other.campaign.id)
    yield* draw(followUp)
    const status = (id: Campaign["id"]) =>
      CampaignRepository.use((campaigns) => Effect.map(campaigns.find(id), ({ status }) => status))
    expect([yield* status(followUp.id), yield* status(other.campaign.id)]).toEqual(["scheduled", "published"])
    yield* happen(first, 0, "human clicked")
    const sql = yield* SqlClient.SqlClient
    yield* sql`update campaigns set window_start = clock_timestamp() + interval '59 minutes' where id = ${followUp.id}`
    yield* publishAll
    expect([yield* status(followUp.id), yield* npisOf(followUp)]).toEqual(["published", numbers(1, 3)])
  })

  test("is drawn exactly once by any number of workers, chunk after chunk", function* () {
    const first = yield* sentCampaign(501)
    const followUp = yield* follow(first)
    yield* scheduleCampaign(followUp.id)
    const worker = Effect.gen(function* () {
      while ((yield* publishChunk()) || (yield* find(followUp))?.drawnAt === null) {}
    })
    yield* Effect.all(
      Array.from({ length: 5 }, () => worker),
      { concurrency: "unbounded" },
    )
    yield* publishAll
    expect(yield* npisOf(followUp)).toEqual(numbers(0, 501))
    expect((yield* find(followUp))?.skipped).toEqual({})
    expect(yield* (yield* CampaignRepository).progress(followUp.id)).toMatchObject({ published: 501, queued: 501 })
  })

  test("goes on where a worker died, and after a pause", function* () {
    const first = yield* sentCampaign(501)
    yield* happen(first, 3, "human clicked")
    const followUp = yield* follow(first)
    yield* scheduleCampaign(followUp.id)
    yield* publishChunk()
    const sql = yield* SqlClient.SqlClient
    // A transaction that never commits, as that of a worker which is killed.
    yield* Effect.flip(sql.withTransaction(Effect.andThen(publishChunk(), Effect.fail("killed"))))
    expect(yield* npisOf(followUp)).toHaveLength(499)
    yield* commandCampaign(followUp.id, "pause")
    expect(yield* publishChunk()).toBe(false)
    yield* draw(followUp)
    expect(yield* npisOf(followUp)).toHaveLength(500)
    expect((yield* find(followUp))?.skipped).toEqual({ clicked: 1 })
  })

  test("starts over, and draws nobody twice, when the last recipient read is erased", function* () {
    const first = yield* sentCampaign(501)
    const followUp = yield* follow(first)
    yield* scheduleCampaign(followUp.id)
    yield* publishChunk()
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      update recipients set erased_at = clock_timestamp(), npi = '0000000001', email = 'erased@example.invalid'
      where id = (select last_id from follow_ups where campaign_id = ${followUp.id})`
    yield* sql`
      update recipient_keys set npi = '0000000001', email = 'erased@example.invalid'
      where recipient_id = (select last_id from follow_ups where campaign_id = ${followUp.id})`
    yield* publishAll
    expect(yield* npisOf(followUp)).toEqual(numbers(0, 501))
    expect((yield* find(followUp))?.skipped).toEqual({ erased: 1 })
  })

  test("waits for a suppression that comes meanwhile, or is withdrawn by it", function* () {
    const first = yield* sentCampaign(3)
    const followUp = yield* follow(first)
    yield* scheduleCampaign(followUp.id)
    const suppress = suppressClinicians({ programId: first.programId }, [{ npi: npi(1), email: null }], "operator")
    yield* whileOpen(publishChunk(), () => Effect.forkDetach(suppress))
    yield* suppress
    yield* publishAll
    const rows = yield* recipientsOf(followUp)
    expect(rows.filter(({ reason }) => reason === null).map(({ npi }) => npi)).toEqual([npi(0), npi(2)].sort())
  })

  test("skips everybody once the program has reached its quota", function* () {
    const first = yield* sentCampaign(3)
    const followUp = yield* follow(first)
    const sql = yield* SqlClient.SqlClient
    yield* sql`update programs set completer_target = 1 where id = ${first.programId}`
    const completer = { programId: first.programId, stage: "completer_qualified", npi: npi(9) } as const
    yield* sql.withTransaction(qualifyOn(first.organizationId, [completer], STAMP as CommitTimestamp))
    yield* draw(followUp)
    expect([yield* npisOf(followUp), (yield* find(followUp))?.skipped]).toEqual([[], { quota_reached: 3 }])
  })

  test("takes no import", function* () {
    const first = yield* sentCampaign(1)
    const followUp = yield* follow(first)
    const refused = yield* Effect.flip(importLines(followUp.id, [{ number: 2, npi: npi(9), email: email(9) }]))
    expect(refused).toMatchObject({ _tag: "RecipientsDrawn" })
  })

  test("has the fields and the time zones of the earlier campaign's recipients", function* () {
    const first = yield* sentCampaign(3)
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      insert into recipient_fields (organization_id, recipient_id, fields, time_zones)
      select organization_id, id, '{"first_name": "Dana"}', '{UTC}' from recipients where campaign_id = ${first.id} and npi <> ${npi(2)}`
    const followUp = yield* follow(first)
    yield* draw(followUp)
    const rows = yield* sql`
      select npi, fields ->> 'first_name' as name, time_zones as "timeZones" from recipients
      join recipient_fields on recipient_fields.organization_id = recipients.organization_id and recipient_id = id
      where campaign_id = ${followUp.id} order by npi`
    expect(rows).toEqual(numbers(0, 2).map((each) => ({ npi: each, name: "Dana", timeZones: ["UTC"] })))
  })

  test("of a follow-up leaves out recipients who have clicked on either e-mail", function* () {
    const first = yield* sentCampaign(3)
    const second = yield* follow(first)
    yield* draw(second)
    yield* happen(first, 0, "human clicked")
    yield* happen(second, 1, "human clicked")
    const sql = yield* SqlClient.SqlClient
    yield* sql`update recipients set sent_at = clock_timestamp() - interval '6 days' where campaign_id = ${second.id}`
    yield* sql`update campaigns set status = 'completed' where id = ${second.id}`
    const third = yield* follow(second)
    yield* draw(third)
    expect([yield* npisOf(third), (yield* find(third))?.skipped]).toEqual([[npi(2)], { clicked: 2 }])
  })
})

describe("a message of a follow-up", () => {
  test("is not sent once its recipient has clicked on the earlier e-mail, and the reason is shown", function* () {
    const first = yield* sentCampaign(3)
    const followUp = yield* follow(first)
    yield* draw(followUp)
    yield* openWindow(followUp)
    yield* happen(first, 1, "human clicked")
    yield* happen(first, 2, "bot clicked")
    const leases = yield* claimMessages(100)
    const clicked = yield* withdrawClicked(leases)
    const left = leases.filter(({ recipientId }) => !clicked.has(recipientId))
    expect([leases.length, left.length]).toEqual([3, 2])
    yield* Effect.forEach(left, settleSent)
    const reasons = (yield* recipientsOf(followUp)).map(({ npi, reason }) => [npi, reason])
    expect(reasons).toEqual(numbers(0, 3).map((each) => [each, each === npi(1) ? "clicked" : null]))
    const campaigns = yield* CampaignRepository
    yield* campaigns.openAndComplete
    expect([(yield* campaigns.find(followUp.id)).status, yield* campaigns.progress(followUp.id)]).toMatchObject([
      "completed",
      { recipients: 3, sent: 2, withdrawn: 1, queued: 0 },
    ])
  })

  test("is sent all the same when the follow-up asks about something other than clicks, or the campaign is not a follow-up", function* () {
    const first = yield* sentCampaign(2)
    const followUp = yield* follow(first, { unless: "account_created" })
    yield* draw(followUp)
    yield* openWindow(followUp)
    yield* happen(first, 1, "human clicked")
    const { campaign } = yield* seedCampaign({ recipients: 2 })
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(100)
    expect([leases.length, (yield* withdrawClicked(leases)).size]).toEqual([4, 0])
  })
})

describe("createCampaign", () => {
  test("refuses to follow a campaign that still may send, or does not exist", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 1 })
    expect(yield* Effect.flip(follow(campaign))).toMatchObject({ _tag: "InvalidFollowUp" })
    yield* scheduleCampaign(campaign.id)
    const refused = yield* Effect.flip(follow(campaign))
    expect(refused.message).toMatch(/may send until/)
    const start = (at: Timestamp) => Math.ceil((Date.parse(at) - Date.now()) / 1000)
    const inTime = yield* follow(campaign, {}, start(campaign.windowEnd) + 5 * 86_400 + 60)
    expect(inTime.status).toBe("draft")
    const missing = { ...campaign, id: campaign.id.replaceAll("0", "f") as Campaign["id"] }
    expect(yield* Effect.flip(follow(missing))).toMatchObject({ _tag: "CampaignNotFound" })
  })
})
