import { describe, expect } from "@effect/vitest"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createCampaign, publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { FollowUp } from "@outreach/domain/campaigns/FollowUp"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { withdrawClicked } from "@outreach/domain/campaigns/FollowUps"
import type { RecipientId } from "@outreach/domain/Identifier"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { effectTest } from "@outreach/testing/effectTest"
import { type Outcome, outreachOn } from "@outreach/testing/outreachOn"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, FOOTER, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, settleSent } from "@outreach/testing/sendCampaign"
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
})
