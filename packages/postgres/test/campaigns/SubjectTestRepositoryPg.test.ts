import { describe, expect } from "@effect/vitest"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { assignSubject, type SubjectTest } from "@outreach/domain/campaigns/SubjectTest"
import { SubjectTestRepository } from "@outreach/domain/campaigns/SubjectTestRepository"
import { decideSubjects } from "@outreach/domain/campaigns/SubjectTests"
import type { RecipientId } from "@outreach/domain/Identifier"
import type { MessageLease, TestSubject } from "@outreach/domain/mail/Message"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { Transaction } from "@outreach/domain/Transaction"
import { effectTest } from "@outreach/testing/effectTest"
import { whileOpen } from "@outreach/testing/inTransaction"
import { type Outcome, outreachOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"
import { withRescans } from "../withRescans.ts"

const run = runOnDatabase()
const test = effectTest(run)

beforeEach(() => run(cancelCampaigns))

const SUBJECT_TEST: SubjectTest = { subjectB: "{{ program_name }} is waiting", share: 40, afterSeconds: 600 }
const STAMP = "2026-12-01T10:00:00.000000Z"

const seed = (recipients: number, subjectTest = SUBJECT_TEST) =>
  Effect.map(seedCampaign({ recipients, subjectTest }), ({ campaign }) => ({
    ...campaign,
    campaignId: campaign.id,
  }))

interface Row {
  readonly id: RecipientId
  readonly testSubject: TestSubject | null
  /** Null for a message that was sent or dropped. */
  readonly waits: boolean | null
}

const recipientsOf = Effect.fnUntraced(function* ({ organizationId, id }: Campaign) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Row>`
    select id, test_subject as "testSubject", due_at = 'infinity' as waits from recipients
    left join messages on messages.organization_id = recipients.organization_id and recipient_id = id
    where recipients.organization_id = ${organizationId} and recipients.campaign_id = ${id} order by id`
})

/** Lets the given number of seconds pass since the campaign began to send. */
const pass = Effect.fnUntraced(function* ({ id }: Campaign, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update subject_tests set began_at = began_at - make_interval(secs => ${seconds}::int) where campaign_id = ${id}`
})
const find = (campaign: Campaign) =>
  SubjectTestRepository.use((tests) => tests.find({ ...campaign, campaignId: campaign.id }))

const settleAll = (leases: ReadonlyArray<MessageLease>) => Effect.forEach(leases, settleSent, { discard: true })
const click = (campaign: Campaign, leases: ReadonlyArray<MessageLease>, outcome: Outcome = "human clicked") =>
  outreachOn(
    STAMP,
    campaign,
    leases.map(({ recipientId }) => [recipientId, outcome]),
  )
const of = (leases: ReadonlyArray<MessageLease>, subject: TestSubject | null) =>
  leases.filter(({ testSubject }) => testSubject === subject)

/** Sends the messages of the test group; two who got B click. */
const sendTestGroup = Effect.fnUntraced(function* (campaign: Campaign) {
  yield* sendCampaign(campaign.id)
  const leases = yield* claimMessages(1000)
  yield* settleAll(leases)
  yield* click(campaign, of(leases, "b").slice(0, 2))
  return leases
})

describe("the test group", () => {
  test("is leased at once, each recipient with the subject that the hash says, and the others wait", function* () {
    const campaign = yield* seed(60)
    yield* sendCampaign(campaign.id)
    const rows = yield* recipientsOf(campaign)
    for (const { id, testSubject, waits } of rows) {
      expect({ testSubject, waits }).toEqual(assignSubject({ share: 40, winner: null }, campaign.id, id))
    }
    const leases = yield* claimMessages(1000)
    expect(leases.map(({ recipientId, testSubject }) => ({ recipientId, testSubject })).sort(byId)).toEqual(
      rows.filter(({ waits }) => !waits).map(({ id, testSubject }) => ({ recipientId: id, testSubject })),
    )
    expect([of(leases, "a").length > 0, of(leases, "b").length > 0, of(leases, null).length]).toEqual([true, true, 0])
  })

  test("keeps its subject when a message is tried again, also after the other one has won", function* () {
    const campaign = yield* seed(50)
    yield* sendCampaign(campaign.id)
    const leases = yield* claimMessages(1000)
    const [lease] = of(leases, "a")
    yield* settleAll(leases.filter((each) => each !== lease))
    yield* click(campaign, of(leases, "b"))
    const queue = yield* MessageQueue
    const { settle } = yield* Settlements
    yield* settle(lease!, { state: "retry", attempts: 1, delaySeconds: 0 })
    yield* pass(campaign, 600)
    yield* decideSubjects()
    expect((yield* find(campaign))?.winner).toBe("b")
    const again = (yield* claimMessages(1000)).find(({ recipientId }) => recipientId === lease!.recipientId)
    expect(again).toMatchObject({ testSubject: "a", attempt: 2 })
    expect((yield* queue.template(campaign.id, "a")).subject).toBe("An invitation to {{ program_name }}")
  })

  test("is everybody when the share is 100, and nothing is ever decided", function* () {
    const campaign = yield* seed(30, { ...SUBJECT_TEST, share: 100, afterSeconds: null })
    const leases = yield* sendTestGroup(campaign)
    expect([leases.length, of(leases, null).length]).toEqual([30, 0])
    yield* pass(campaign, 3000)
    yield* decideSubjects()
    expect(yield* find(campaign)).toMatchObject({ winner: null, decidedAt: null })
    yield* (yield* CampaignRepository).openAndComplete
    expect((yield* (yield* CampaignRepository).find(campaign.id)).status).toBe("completed")
  })
})

const byId = (one: { readonly recipientId: string }, other: { readonly recipientId: string }) =>
  one.recipientId < other.recipientId ? -1 : 1

describe("the winner", () => {
  test("is decided after the time, not before, by clicks without suspected bots, and the others get it", function* () {
    const campaign = yield* seed(40)
    const leases = yield* sendTestGroup(campaign)
    const [a, b] = [of(leases, "a"), of(leases, "b")]
    yield* click(campaign, a, "bot clicked")
    yield* click(campaign, a, "human opened")
    yield* pass(campaign, 590)
    yield* decideSubjects()
    expect([(yield* find(campaign))?.winner, yield* claimMessages(1000)]).toEqual([null, []])

    yield* pass(campaign, 10)
    yield* decideSubjects()
    expect(yield* find(campaign)).toMatchObject({
      winner: "b",
      counts: { a: { sent: a.length, clicked: 0 }, b: { sent: b.length, clicked: 2 } },
    })
    const others = yield* claimMessages(1000)
    expect([others.length, of(others, null).length]).toEqual([40 - leases.length, 40 - leases.length])
    const queue = yield* MessageQueue
    expect((yield* queue.template(campaign.id, null)).subject).toBe("{{ program_name }} is waiting")
    yield* settleAll(others)
    expect(yield* (yield* SubjectTestRepository).figures(campaign)).toEqual([
      {
        ...figures(a.length),
        testSubject: "a",
        uniqueOpened: a.length,
        unsuspectedUniqueOpened: a.length,
        uniqueClicked: a.length,
      },
      { ...figures(b.length), testSubject: "b", uniqueClicked: 2, unsuspectedUniqueClicked: 2 },
      { ...figures(others.length), testSubject: null },
    ])
    yield* (yield* CampaignRepository).openAndComplete
    expect((yield* (yield* CampaignRepository).find(campaign.id)).status).toBe("completed")
  })

  const figures = (sent: number) => ({
    recipients: sent,
    sent,
    uniqueOpened: 0,
    uniqueClicked: 0,
    unsuspectedUniqueOpened: 0,
    unsuspectedUniqueClicked: 0,
  })

  test("is decided once, however many workers decide", function* () {
    const campaign = yield* seed(60)
    yield* sendTestGroup(campaign)
    yield* pass(campaign, 600)
    yield* Effect.all(Array.from({ length: 8 }, decideSubjects), { concurrency: "unbounded" })
    const decided = yield* find(campaign)
    expect(decided?.winner).toBe("b")
    yield* click(campaign, (yield* claimMessages(1000)).slice(0, 5))
    yield* decideSubjects()
    expect(yield* find(campaign)).toEqual(decided)
  })

  test("is decided by another worker when the one that decides dies before it has stored it", function* () {
    const campaign = yield* seed(60)
    yield* sendTestGroup(campaign)
    yield* pass(campaign, 600)
    const tests = yield* SubjectTestRepository
    const { run: inTransaction } = yield* Transaction
    const dying = Effect.gen(function* () {
      yield* tests.decide(campaign, "a", (yield* tests.lockUndecided(campaign))!)
      return yield* Effect.fail("killed")
    })
    yield* Effect.flip(inTransaction(dying))
    yield* whileOpen(tests.lockUndecided(campaign), () =>
      Effect.gen(function* () {
        yield* decideSubjects()
        expect((yield* find(campaign))?.winner).toBe(null)
      }),
    )
    yield* decideSubjects()
    expect((yield* find(campaign))?.winner).toBe("b")
  })

  test("reaches all who wait when the worker dies between two batches", function* () {
    const campaign = yield* seed(60)
    const leases = yield* sendTestGroup(campaign)
    yield* pass(campaign, 600)
    const tests = yield* SubjectTestRepository
    yield* tests.decide(campaign, "b", { a: { sent: 1, clicked: 0 }, b: { sent: 1, clicked: 1 } })
    expect(yield* withRescans(tests.release(7))).toMatchObject({ count: 7 })
    expect((yield* recipientsOf(campaign)).filter(({ waits }) => waits)).toHaveLength(60 - leases.length - 7)
    yield* decideSubjects()
    expect(yield* claimMessages(1000)).toHaveLength(60 - leases.length)
  })

  test("waits while the campaign is paused, and for the whole time again once it goes on", function* () {
    const campaign = yield* seed(60)
    yield* sendTestGroup(campaign)
    yield* commandCampaign(campaign.id, "pause")
    yield* pass(campaign, 6000)
    yield* decideSubjects()
    expect((yield* find(campaign))?.winner).toBe(null)
    yield* sendCampaign(campaign.id)
    yield* decideSubjects()
    expect((yield* find(campaign))?.winner).toBe(null)
    yield* pass(campaign, 600)
    yield* decideSubjects()
    expect((yield* find(campaign))?.winner).toBe("b")
  })

  test("goes to whoever is added after the decision; whoever is added before it may test a subject", function* () {
    const campaign = yield* seed(20)
    yield* sendTestGroup(campaign)
    const add = Effect.fnUntraced(function* (from: number) {
      yield* commandCampaign(campaign.id, "pause")
      const lines = Array.from({ length: 40 }, (_, i) => ({
        number: i + 2,
        npi: npi(from + i),
        email: email(from + i),
      }))
      yield* importLines(campaign.id, lines)
      yield* sendCampaign(campaign.id)
      return yield* claimMessages(1000)
    })
    const before = yield* add(1000)
    expect([of(before, "a").length > 0, of(before, "b").length > 0, of(before, null).length]).toEqual([true, true, 0])
    yield* settleAll(before)
    yield* pass(campaign, 600)
    yield* decideSubjects()
    yield* settleAll(yield* claimMessages(1000))
    const after = yield* add(2000)
    expect([after.length, of(after, null).length]).toEqual([40, 40])
  })

  test("is never decided after the window has ended or the campaign is cancelled, and nobody who waited is sent to", function* () {
    const ended = yield* seed(40)
    const cancelled = yield* seed(40)
    for (const campaign of [ended, cancelled]) yield* sendTestGroup(campaign)
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      update campaigns set window_start = clock_timestamp() - interval '1 day', window_end = clock_timestamp() - interval '1 second'
      where id = ${ended.id}`
    yield* commandCampaign(cancelled.id, "cancel")
    yield* pass(cancelled, 6000)
    const campaigns = yield* CampaignRepository
    for (const step of [decideSubjects(), campaigns.openAndComplete, decideSubjects()]) yield* step
    for (const [campaign, status] of [
      [ended, "completed"],
      [cancelled, "cancelled"],
    ] as const) {
      expect([(yield* campaigns.find(campaign.id)).status, (yield* find(campaign))?.winner]).toEqual([status, null])
      expect((yield* recipientsOf(campaign)).every(({ waits }) => waits === null)).toBe(true)
    }
    expect(yield* claimMessages(1000)).toEqual([])
  })

  test("does not bring back a campaign that is cancelled after the decision", function* () {
    const campaign = yield* seed(40)
    yield* sendTestGroup(campaign)
    const tests = yield* SubjectTestRepository
    yield* tests.decide(campaign, "b", { a: { sent: 1, clicked: 0 }, b: { sent: 1, clicked: 1 } })
    yield* commandCampaign(campaign.id, "cancel")
    yield* (yield* CampaignRepository).openAndComplete
    yield* decideSubjects()
    expect((yield* recipientsOf(campaign)).every(({ waits }) => waits === null)).toBe(true)
  })

  test("lets a publication that goes on meanwhile come first", function* () {
    const campaign = yield* seed(40)
    yield* sendTestGroup(campaign)
    yield* pass(campaign, 600)
    const sql = yield* SqlClient.SqlClient
    yield* whileOpen(sql`select from campaigns where id = ${campaign.id} for update`, () => decideSubjects())
    expect((yield* find(campaign))?.winner).toBe(null)
    expect(yield* publishChunk()).toBe(false)
  })
})
