import { describe, expect } from "@effect/vitest"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { assignSubject, type SubjectTest } from "@outreach/domain/campaigns/SubjectTest"
import { SubjectTestRepository } from "@outreach/domain/campaigns/SubjectTestRepository"
import { decideSubjects } from "@outreach/domain/campaigns/SubjectTests"
import type { RecipientId } from "@outreach/domain/Identifier"
import type { MessageLease, TestSubject } from "@outreach/domain/mail/Message"
import { MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { effectTest } from "@outreach/testing/effectTest"
import { type Outcome, outreachOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"

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
})
