import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { CampaignId } from "@outreach/domain/Identifier"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { type MessageClaim, MessageQueue } from "@outreach/domain/mail/MessageQueue"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { resetSending, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { column, sql, value } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeEach, describe, expect } from "vitest"

const { run, test } = testsOnDatabase()

beforeEach(() => run(resetSending))

const seedSending = Effect.fnUntraced(function* (recipients: number) {
  const seeded = yield* seedCampaign({ recipients })
  yield* sendCampaign(seeded.campaign.id)
  return seeded.campaign
})
/** Claims like a worker. */
const claim = (limit: number, options: Partial<MessageClaim> = {}) =>
  claimMessages({ limit, leaseSeconds: 60, perMinute: null, perDomainMinute: null, ...options })
const count = (leases: ReadonlyArray<MessageLease>, ...campaigns: ReadonlyArray<{ readonly id: CampaignId }>) =>
  campaigns.map(({ id }) => leases.filter(({ campaignId }) => campaignId === id).length)
/** Advances the rates by a minute. */
const passMinute = sql`update send_rates set next_at = next_at - interval '1 minute'`

describe("the turns of a claim", () => {
  test("alternate between organizations first and then between the campaigns of each; unused ones go to the other campaigns", function* () {
    const long = yield* seedSending(60)
    const short = yield* seedSending(3)
    const second = yield* createCampaign({ ...long, name: "Second" })
    yield* importLines(
      second.id,
      Array.from({ length: 60 }, (_, i) => ({ number: i + 2, npi: npi(1000 + i), email: email(1000 + i) })),
    )
    yield* sendCampaign(second.id)
    expect(count(yield* claim(20), long, second, short)).toEqual([9, 8, 3])
    const other = yield* seedSending(60)
    expect(count(yield* claim(20), long, second, other)).toEqual([5, 5, 10])
  })

  test("start with a new campaign, and reach all in turn", function* () {
    const campaigns = yield* Effect.replicateEffect(seedSending(12), 12)
    for (let i = 0; i < 3; i++) yield* claim(16)
    const last = yield* seedSending(12)
    expect(count(yield* claim(8), last)[0]).toBeGreaterThan(0)
    const leases = (yield* Effect.replicateEffect(claim(16), 6)).flat()
    expect(Math.min(...count(leases, ...campaigns, last))).toBeGreaterThan(0)
  })

  test("give a new campaign every second message next to a long one, also if a rate allows one at a time", function* () {
    const long = yield* seedSending(30)
    const options = { perMinute: 1 }
    yield* claim(9, options)
    const short = yield* seedSending(12)
    const order: Array<CampaignId> = []
    for (let i = 0; i < 24; i++) {
      yield* passMinute
      for (const lease of yield* claim(9, options)) {
        order.push(lease.campaignId)
        yield* settleSent(lease)
      }
    }
    expect(order).toHaveLength(24)
    expect(order[0]).toBe(short.id)
    expect(order.filter((id) => id === short.id)).toHaveLength(12)
    expect(order.filter((id) => id === long.id)).toHaveLength(12)
  })

  test("even out if the messages of a claim can't be halved", function* () {
    const campaigns = [yield* seedSending(60), yield* seedSending(60)]
    const leases: Array<MessageLease> = []
    for (let i = 0; i < 10; i++) for (const slots of [3, 1, 2]) leases.push(...(yield* claim(slots)))
    expect(count(leases, ...campaigns)).toEqual([30, 30])
  })

  test("reach a campaign even if a different campaign has used up its domain", function* () {
    const long = yield* seedSending(300)
    const options = { perDomainMinute: 1 }
    for (let i = 0; i < 3; i++) yield* claim(60, options)
    const short = yield* seedSending(2)
    expect(yield* claim(60, options)).toEqual([])
    const waits = column`
      select round(extract(epoch from due_at - clock_timestamp()) / 60)::int as minutes from messages
      where campaign_id = ${short.id} order by due_at`
    expect(yield* waits).toEqual([1, 2])
    expect(count(yield* claim(60, options), long)).toEqual([0])
  })

  test("return to a campaign with its retry, its next message, and the end of a lease", function* () {
    const { settle } = yield* Settlements
    const campaign = yield* seedSending(2)
    const [one, other] = yield* claim(9)
    expect(yield* claim(9)).toEqual([])
    yield* settle(one!, { state: "retry", attempts: 1, delaySeconds: 0 })
    expect(yield* claim(9)).toMatchObject([{ recipientId: one!.recipientId }])
    const next = value<number>`
        select round(extract(epoch from next_at - clock_timestamp()))::int as seconds from campaign_turns where campaign_id = ${campaign.id}`
    yield* sql`update messages set lease_until = clock_timestamp() + interval '30 seconds' where recipient_id = ${one!.recipientId}`
    yield* sql`update messages set due_at = clock_timestamp() + interval '20 seconds', lease_until = null where recipient_id = ${other!.recipientId}`
    for (const table of ["campaign_turns", "organization_turns"])
      yield* sql`update ${sql(table)} set next_at = clock_timestamp()`
    expect(yield* claim(9)).toEqual([])
    expect(yield* next).toBeLessThanOrEqual(20)
    expect(yield* next).toBeGreaterThan(10)
  })

  test("tell workers when to look again", function* () {
    const { untilNextTurn } = yield* MessageQueue
    expect(yield* untilNextTurn).toBe(86_400_000)
    yield* seedSending(1)
    expect(yield* untilNextTurn).toBe(0)
    yield* sql`update organization_turns set next_at = clock_timestamp() + interval '1 hour'`
    const ms = yield* untilNextTurn
    expect(ms).toBeGreaterThan(0)
    expect(ms).toBeLessThanOrEqual(3_600_000)
  })

  test("are restored if they were lost, and removed from campaigns that no longer send", function* () {
    const campaign = yield* seedSending(5)
    for (const table of ["campaign_turns", "organization_turns"]) yield* sql`delete from ${sql(table)}`
    expect(yield* claim(2)).toEqual([])
    yield* (yield* CampaignRepository).openAndComplete
    expect(yield* claim(2)).toHaveLength(2)
    yield* sql`update organization_turns set next_at = clock_timestamp() + interval '1 day'`
    yield* (yield* CampaignRepository).openAndComplete
    expect(yield* claim(2)).toHaveLength(2)
    yield* commandCampaign(campaign.id, "pause")
    expect(yield* claim(2)).toEqual([])
    expect(yield* sql`select from campaign_turns where campaign_id = ${campaign.id}`).toEqual([])
    expect(yield* sql`select from organization_turns where organization_id = ${campaign.organizationId}`).toEqual([])
  })
})

test("rates, over concurrent claims apply to all campaigns, to a campaign and to a domain", function* () {
  const campaigns = yield* Effect.replicateEffect(seedSending(60), 3)
  yield* sql`update campaigns set per_minute = 3 where id = ${campaigns[0]!.id}`
  yield* sql`
    update recipients set email = 'x' || id || '@' || (array['a.test', 'b.test', 'c.test'])[1 + abs(hashtext(id)) % 3]
    where campaign_id = any (${campaigns.map(({ id }) => id)}::text[])`
  const claims = yield* Effect.replicateEffect(claim(20, { perMinute: 1, perDomainMinute: 1 }), 12, {
    concurrency: "unbounded",
  })
  const leases = claims.flat()
  // Rates below one per second don't accumulate, so each campaign may send one message now.
  expect(leases).toHaveLength(1)
  const noLimitForAll = (yield* Effect.replicateEffect(claim(20, { perDomainMinute: 1 }), 12, {
    concurrency: "unbounded",
  })).flat()
  expect(noLimitForAll.map(({ email }) => email.split("@")[1]).sort()).toHaveLength(2)
  expect(new Set([...leases, ...noLimitForAll].map(({ email }) => email.split("@")[1])).size).toBe(3)
})

test("publishing takes turns as well", function* () {
  const long = (yield* seedCampaign({ recipients: 501 })).campaign
  const short = (yield* seedCampaign({ recipients: 1 })).campaign
  for (const { id } of [long, short]) yield* scheduleCampaign(id)
  for (let i = 0; i < 2; i++) yield* publishChunk()
  const campaigns = yield* CampaignRepository
  expect((yield* campaigns.progress(short.id)).published).toBe(1)
  expect((yield* campaigns.progress(long.id)).published).toBeLessThan(501)
})
