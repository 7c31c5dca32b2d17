import { EVENTS } from "@outreach/contract"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { composeEvent } from "@outreach/domain/events/Event"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { MessageLease } from "@outreach/domain/mail/Message"
import {
  type AttemptOutcome,
  type MessageClaim,
  MessageQueue,
  type MessageSettlement,
} from "@outreach/domain/mail/MessageQueue"
import { Settlements } from "@outreach/domain/mail/Settlements"
import type { Npi } from "@outreach/domain/recipients/Clinician"
import { RecipientRepository } from "@outreach/domain/recipients/Recipient"
import { OldRows } from "@outreach/postgres/OldRows"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { SENDER, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { column, inTransaction, sql, untilBlocked } from "@outreach/testing/sql"
import { Effect, Fiber } from "effect"
import { beforeEach, describe, expect } from "vitest"

const { run, test } = testsOnDatabase()

beforeEach(() => run(resetSending))

const seedSending = Effect.fnUntraced(function* (recipients: number, kind: "traffic" | "survey" = "traffic") {
  const seeded = yield* seedCampaign({ recipients })
  yield* sql`update campaigns set kind = ${kind} where id = ${seeded.campaign.id}`
  yield* sendCampaign(seeded.campaign.id)
  return seeded
})
const about = Effect.fnUntraced(function* ({ organizationId, campaignId, programId, recipientId }: MessageLease) {
  return { id: yield* createIdentifier("event"), organizationId, campaignId, programId, recipientId }
})
const settle = Effect.fnUntraced(function* (lease: MessageLease, state: "sent" | "bounced") {
  const data = { service_recipient_id: lease.recipientId, service_campaign_id: lease.campaignId, token: lease.token }
  const settlement =
    state === "sent"
      ? { state, event: composeEvent("outreach.email_sent", yield* about(lease), data) }
      : {
          state,
          event: composeEvent("outreach.email_bounced", yield* about(lease), { ...data, bounce_reason: "other" }),
        }
  return yield* (yield* Settlements).settle(lease, settlement)
})
const retry = (lease: MessageLease, attempts: number) =>
  Settlements.use(({ settle }) => settle(lease, { state: "retry", attempts, delaySeconds: 0 }))
const bodies = (campaignId: string) =>
  column<string>`select body from events where campaign_id = ${campaignId} and type <> 'outreach.recipients_published'`
const endLeases = sql`update messages set lease_until = clock_timestamp() - interval '1 second' where lease_until is not null`

describe("MessageQueuePg.claim", () => {
  test("leases each message to one claimer, with all data for sending", function* () {
    const { organization, program, campaign } = yield* seedSending(5)
    const leases = (yield* Effect.all([claimMessages(3), claimMessages(3)], { concurrency: "unbounded" })).flat()
    expect(leases).toHaveLength(5)
    expect(new Set(leases.map((lease) => lease.email)).size).toBe(5)
    expect(leases[0]).toMatchObject({
      organizationId: organization.id,
      campaignId: campaign.id,
      programId: program.id,
      attempt: 1,
      token: expect.stringMatching(/^[0-9A-Za-z]{6}$/),
    })
    expect(yield* claimMessages(9)).toEqual([])
  })

  test("doesn't claim from a paused campaign, or outside the window", function* () {
    const { campaign } = yield* seedSending(1)
    yield* commandCampaign(campaign.id, "pause")
    expect(yield* claimMessages(9)).toEqual([])
    yield* sql`
      update campaigns set status = 'sending', window_start = clock_timestamp() + interval '1 minute'
      where id = ${campaign.id}`
    expect(yield* claimMessages(9)).toEqual([])
    yield* sql`
      update campaigns set window_start = clock_timestamp() - interval '2 minutes',
        window_end = clock_timestamp() - interval '1 minute' where id = ${campaign.id}`
    expect(yield* claimMessages(9)).toEqual([])
    yield* sql`update campaigns set window_end = clock_timestamp() + interval '1 minute' where id = ${campaign.id}`
    // The claims used up its turn while it was paused.
    yield* (yield* CampaignRepository).openAndComplete
    expect(yield* claimMessages(9)).toHaveLength(1)
  })
})

describe("Settlements.settle, for a message that does not render", () => {
  const settleUnrendered = (lease: MessageLease) =>
    Settlements.use(({ settle }) =>
      settle(lease, {
        ...{ state: "retry", attempts: 0, delaySeconds: null },
        failure: { class: "template", code: "needs first_name, which is missing" },
      }),
    )

  test("quarantines it permanently with the reason, and lets the campaign complete", function* () {
    const { campaign } = yield* seedSending(2)
    const campaigns = yield* CampaignRepository
    const [first, second] = yield* claimMessages(2)
    expect(yield* settleUnrendered(first!)).toBe(true)
    expect(yield* settleUnrendered({ ...second!, leaseToken: first!.leaseToken })).toBe(false)
    yield* endLeases
    expect((yield* claimMessages(9)).map(({ recipientId }) => recipientId)).toEqual([second!.recipientId])
    expect(yield* campaigns.quarantined(campaign.id)).toMatchObject([
      {
        recipientId: first!.recipientId,
        unknownOutcomes: 0,
        class: "template",
        code: "needs first_name, which is missing",
      },
    ])
    yield* sql`delete from messages where recipient_id = ${second!.recipientId}`
    yield* campaigns.openAndComplete
    expect(yield* campaigns.find(campaign.id)).toMatchObject({ status: "completed" })
  })

  test("retries it after an import of more fields, without retrying other quarantined messages", function* () {
    const { organization, campaign } = yield* seedSending(2)
    const [first, second] = yield* claimMessages(2)
    yield* settleUnrendered(first!)
    const failure = { class: "timeout", code: "x" } as const
    yield* Settlements.use(({ settle }) =>
      settle(second!, { state: "retry", attempts: 0, isUnknown: true, delaySeconds: null, failure }),
    )
    const rows = yield* sql<{ id: string; npi: Npi; email: string }>`
      select id, npi, email from recipients where organization_id = ${organization.id}`
    yield* commandCampaign(campaign.id, "pause")
    const lines = rows.map(({ npi, email }, i) => ({ number: i, npi, email, fields: { first_name: "Ada" } }))
    expect(yield* importLines(campaign.id, lines)).toMatchObject({ updated: 2 })
    yield* sql`update campaigns set status = 'sending' where id = ${campaign.id}`
    const again = yield* claimMessages(9)
    expect(again).toMatchObject([{ recipientId: first!.recipientId, attempt: 1 }])
    expect(yield* MessageQueue.use((queue) => queue.fields(again))).toEqual(
      new Map([[first!.recipientId, { first_name: "Ada" }]]),
    )
  })
})

test("MessageQueuePg.claim, for a campaign with many leased messages claims no more than its share, and all messages of the other campaigns", function* () {
  const slow = yield* seedSending(5)
  const other = yield* seedSending(5)
  const leases = yield* claimMessages(9, { maxPerCampaign: 4, heldByCampaign: { [slow.campaign.id]: 3 } })
  const count = (id: string) => leases.filter(({ campaignId }) => campaignId === id).length
  expect([count(slow.campaign.id), count(other.campaign.id)]).toEqual([1, 4])
  expect(yield* claimMessages(9, { maxPerCampaign: 4, heldByCampaign: { [slow.campaign.id]: 5 } })).toHaveLength(1)
})

test("MessageQueuePg.renew extends active leases, and returns only those", function* () {
  yield* seedSending(2)
  const [held, lost] = yield* claimMessages(2)
  yield* endLeases
  const stolen = { ...lost!, leaseToken: held!.leaseToken }
  expect(yield* (yield* MessageQueue).renew([held!, stolen], 60)).toEqual([held!.leaseToken])
  expect((yield* claimMessages(2)).map(({ recipientId }) => recipientId)).toEqual([lost!.recipientId])
})

describe("a message with an unknown outcome", () => {
  const failure = { class: "slow", code: "ETIMEDOUT at DATA" } as const
  const settleUnknown = (lease: MessageLease, delaySeconds: number | null) =>
    Settlements.use(({ settle }) =>
      settle(lease, { state: "retry", attempts: 0, isUnknown: true, delaySeconds, failure }),
    )

  test("is counted, and is quarantined after the last attempt; its campaign is completed, and shows it", function* () {
    const { campaign } = yield* seedSending(1)
    const repository = yield* CampaignRepository
    for (const unknownOutcomes of [0, 1, 2]) {
      const [lease] = yield* claimMessages(1)
      expect(lease).toMatchObject({ attempt: 1, unknownOutcomes })
      expect(yield* settleUnknown(lease!, 0)).toBe(true)
    }
    expect(yield* repository.progress(campaign.id)).toMatchObject({ queued: 1, unknown: 1, quarantined: 0 })
    expect(
      yield* sql`select failure_class as class, failure_code as code from messages where campaign_id = ${campaign.id}`,
    ).toEqual([failure])
    yield* repository.openAndComplete
    expect((yield* repository.find(campaign.id)).status).toBe("sending")

    const [last] = yield* claimMessages(1)
    yield* settleUnknown(last!, null)
    expect(yield* claimMessages(1)).toEqual([])
    yield* repository.openAndComplete
    yield* repository.openAndComplete
    expect((yield* repository.find(campaign.id)).status).toBe("completed")
    expect(yield* repository.progress(campaign.id)).toMatchObject({ queued: 0, unknown: 0, quarantined: 1 })
    expect(yield* repository.quarantined(campaign.id)).toMatchObject([
      { recipientId: last!.recipientId, token: last!.token, unknownOutcomes: 4, ...failure },
    ])
    expect((yield* readFacts(["messagesQuarantined"])).messagesQuarantined).toBeGreaterThan(0)
  })

  test("is quarantined instead of dropped if the window ends before its retry", function* () {
    const { campaign } = yield* seedSending(2)
    const [lease] = yield* claimMessages(1)
    yield* settleUnknown(lease!, 3600)
    yield* sql`
      update campaigns set window_start = clock_timestamp() - interval '2 minutes',
        window_end = clock_timestamp() - interval '1 minute' where id = ${campaign.id}`
    const campaigns = yield* CampaignRepository
    yield* campaigns.openAndComplete
    expect((yield* campaigns.find(campaign.id)).status).toBe("completed")
    expect(yield* campaigns.progress(campaign.id)).toMatchObject({ queued: 0, quarantined: 1 })
  })
})

test("MessageQueuePg.template reads the shared data of a campaign's messages", function* () {
  const { campaign, program } = yield* seedCampaign({ recipients: 0 })
  expect(yield* (yield* MessageQueue).template(campaign.id)).toEqual({
    subject: campaign.subject,
    preheader: null,
    html: campaign.html,
    text: null,
    shortLink: null,
    fields: [],
    campaignName: campaign.name,
    programName: program.name,
    ...SENDER,
  })
})

describe("Settlements.settle", () => {
  test("writes concurrent settlements in few transactions, and rejects only those with a lost lease", function* () {
    const { campaign } = yield* seedSending(40)
    const leases = yield* claimMessages(40)
    const lost = { ...leases[30]!, leaseToken: leases[31]!.leaseToken }
    const asked = leases.map((lease, i) => (i === 30 ? lost : lease))
    const settled = yield* Effect.forEach(asked, (lease) => settle(lease, "sent"), { concurrency: "unbounded" })
    expect(settled).toEqual(leases.map((_, i) => i !== 30))
    const stamps = (yield* bodies(campaign.id)).map((body) => JSON.parse(body).emitted_at)
    expect(stamps).toHaveLength(39)
    expect(new Set(stamps).size).toBeLessThan(10)
  })

  for (const state of ["sent", "bounced"] as const) {
    test(`marks the recipient as ${state} and publishes the event with the same timestamp`, function* () {
      const { organization, campaign } = yield* seedSending(1)
      const [lease] = yield* claimMessages(1)
      expect(yield* settle(lease!, state)).toBe(true)

      const recipient = yield* (yield* RecipientRepository).find(organization.id, lease!.token)
      const at = recipient!.updatedAt
      expect(recipient).toMatchObject({
        lastEventAt: at,
        sentAt: state === "sent" ? at : null,
        bouncedAt: state === "bounced" ? at : null,
      })
      const [event] = yield* bodies(campaign.id)
      expect(EVENTS[`outreach.email_${state}`].envelope.parse(JSON.parse(event!))).toMatchObject({
        occurred_at: at,
        emitted_at: at,
        data: { service_recipient_id: recipient!.id, service_campaign_id: campaign.id, token: lease!.token },
      })
      yield* endLeases
      expect(yield* claimMessages(1)).toEqual([])
    })
  }

  test("requeues a retry with the given number of attempts", function* () {
    const { campaign } = yield* seedSending(1)
    for (const [attempts, next] of [
      [1, 2],
      [1, 2],
      [2, 3],
    ] as const) {
      const [lease] = yield* claimMessages(1)
      expect(yield* retry(lease!, attempts)).toBe(true)
      const [again] = yield* claimMessages(1)
      expect(again!.attempt).toBe(next)
      yield* endLeases
    }
    expect(yield* bodies(campaign.id)).toEqual([])
  })

  test("rejects a dead worker after its lease was claimed again, as the same attempt", function* () {
    const { organization, campaign } = yield* seedSending(1)
    const [dead] = yield* claimMessages(1)
    yield* endLeases
    const [lease] = yield* claimMessages(1)
    expect(lease).toMatchObject({ recipientId: dead!.recipientId, attempt: 1 })
    expect([yield* settle(dead!, "bounced"), yield* retry(dead!, 1)]).toEqual([false, false])
    expect(yield* bodies(campaign.id)).toEqual([])

    expect([yield* settle(lease!, "sent"), yield* settle(lease!, "sent")]).toEqual([true, false])
    expect(yield* bodies(campaign.id)).toHaveLength(1)
    const recipient = yield* (yield* RecipientRepository).find(organization.id, lease!.token)
    expect(recipient!.bouncedAt).toBeNull()
  })

  test("writes the server's response again after its transaction was cancelled by a deadlock", function* () {
    const { organization, campaign } = yield* seedSending(1)
    const [lease] = yield* claimMessages(1)
    const settling = yield* inTransaction(
      Effect.gen(function* () {
        // Makes PostgreSQL cancel the settlement.
        yield* sql`set local deadlock_timeout = '1h'`
        yield* sql`set local idle_in_transaction_session_timeout = 0`
        yield* sql`select from organization_clock where organization_id = ${organization.id} for update`
        const settling = yield* Effect.forkDetach(Effect.promise(() => run(settle(lease!, "sent"))))
        yield* untilBlocked()
        yield* sql`select from recipients where organization_id = ${organization.id} and id = ${lease!.recipientId} for update`
        return settling
      }),
    )
    expect(yield* Fiber.join(settling)).toBe(true)
    expect(yield* bodies(campaign.id)).toHaveLength(1)
  })

  test("marks a survey campaign's recipient, without forwarding an event", function* () {
    const { organization, campaign } = yield* seedSending(1, "survey")
    const [lease] = yield* claimMessages(1)
    expect(yield* settle(lease!, "sent")).toBe(true)
    expect((yield* (yield* RecipientRepository).find(organization.id, lease!.token))!.sentAt).not.toBeNull()
    expect(yield* bodies(campaign.id)).toEqual([])
  })
})

describe("Settlements.settle, for an attempt", () => {
  const settle = (lease: MessageLease, settlement: MessageSettlement, outcome: AttemptOutcome, reply: string | null) =>
    Settlements.use(({ settle }) => settle(lease, settlement, { outcome, reply }))
  const attemptsOf = ({ recipientId }: MessageLease) =>
    sql`
        select number, outcome, times, reply, first_at < last_at as repeated from message_attempts
        where recipient_id = ${recipientId} order by last_at`
  const again = Effect.map(claimMessages(9), ([lease]) => lease!)

  test("stores each with the reply, and of the uncounted ones only the last and their number", function* () {
    yield* seedSending(1)
    const away = { class: "refused", code: "ECONNREFUSED" } as const
    const first = yield* again
    const unreachable = { state: "retry", attempts: 0, delaySeconds: 0, failure: away } as const
    yield* settle(first, unreachable, "unreachable", "refused: ECONNREFUSED")
    yield* settle(yield* again, unreachable, "unreachable", "timeout: ETIMEDOUT")
    yield* settle(yield* again, { state: "retry", attempts: 1, delaySeconds: 0 }, "deferred", "452 4.2.2 Mailbox full")
    const last = yield* again
    const data = { service_recipient_id: last.recipientId, service_campaign_id: last.campaignId, token: last.token }
    const event = composeEvent("outreach.email_sent", yield* about(last), data)
    yield* settle(last, { state: "sent", event }, "accepted", "250 2.0.0 Ok: queued as 4F1A2B")
    expect(yield* attemptsOf(first)).toEqual([
      { number: 1, outcome: "unreachable", times: 2, reply: "timeout: ETIMEDOUT", repeated: true },
      { number: 1, outcome: "deferred", times: 1, reply: "452 4.2.2 Mailbox full", repeated: false },
      { number: 2, outcome: "accepted", times: 1, reply: "250 2.0.0 Ok: queued as 4F1A2B", repeated: false },
    ])
  })

  test("doesn't store those of lost leases, also in a batch with an active one", function* () {
    yield* seedSending(1)
    const lost = yield* again
    yield* endLeases
    const held = yield* again
    const deferred = { state: "retry", attempts: 1, delaySeconds: 0 } as const
    const settled = yield* Effect.all(
      [settle(lost, deferred, "deferred", "451 of the lost"), settle(held, deferred, "deferred", "451 of the held")],
      { concurrency: "unbounded" },
    )
    expect(settled).toEqual([false, true])
    expect(yield* attemptsOf(held)).toMatchObject([{ reply: "451 of the held", times: 1 }])
  })
})

/** Seeds a sending campaign with a number of recipients per domain, in this order. */
const seedDomains = Effect.fnUntraced(function* (domains: Readonly<Record<string, number>>) {
  const all = Object.entries(domains).flatMap(([domain, recipients]) => Array<string>(recipients).fill(domain))
  const { campaign } = yield* seedCampaign({ recipients: all.length })
  yield* sendCampaign(campaign.id)
  yield* sql`
    update recipients set email = 'x' || place || '@' || (${all}::text[])[place]
    from (select recipient_id, row_number() over (order by recipient_id)::int as place from messages where campaign_id = ${campaign.id}) message
    where id = recipient_id`
  return campaign
})
const claim = (options: Partial<MessageClaim> = {}) => claimMessages(100, options)
const domains = (leases: ReadonlyArray<MessageLease>) => leases.map(({ email }) => email.split("@")[1])
/** Advances the rates by a number of seconds. */
const pass = (seconds: number) => sql`update send_rates set next_at = next_at - make_interval(secs => ${seconds}::int)`
const waits = (campaignId: string) =>
  column<number>`
      select extract(epoch from due_at - clock_timestamp())::float8 as wait from messages
      where campaign_id = ${campaignId} and lease_token is null order by due_at`

test("a campaign's rate only limits that campaign", function* () {
  const slow = yield* seedDomains({ "a.test": 10 })
  const other = yield* seedDomains({ "a.test": 10 })
  yield* sql`update campaigns set per_minute = 60 where id = ${slow.id}`
  const leases = yield* claim()
  expect(leases.filter(({ campaignId }) => campaignId === slow.id)).toHaveLength(2)
  expect(leases.filter(({ campaignId }) => campaignId === other.id)).toHaveLength(10)
  yield* pass(1)
  expect((yield* claim()).length).toBeGreaterThan(0)
})

test("the rate to a recipient domain delays messages to separate turns, and lets other messages pass", function* () {
  const campaign = yield* seedDomains({ "a.test": 30, "B.test": 1, "b.test": 2 })
  const options = { limit: 2, perDomainMinute: 1 }
  const leases = [...(yield* claim(options)), ...(yield* claim(options)), ...(yield* claim(options))]
  expect(domains(leases).map((domain) => domain?.toLowerCase())).toEqual(["a.test", "b.test"])

  // One per minute and domain: 29 of a.test, and two of b.test in addition to the first two.
  const minutes = (yield* waits(campaign.id)).map((wait) => Math.round(wait / 60))
  expect(minutes).toEqual([1, 2, ...Array.from({ length: 29 }, (_, i) => i + 1)].sort((one, other) => one - other))
})

test("OldRows.deleteSendRates only deletes rates that no longer limit", function* () {
  yield* seedDomains({ "a.test": 2 })
  yield* claim({ perMinute: 60 })
  yield* sql`insert into send_rates (scope, next_at) values ('domain old.test', clock_timestamp() - interval '2 hours')`
  yield* (yield* OldRows).deleteSendRates
  expect(yield* sql`select scope from send_rates`).toEqual([{ scope: "all" }])
})

test("a worker that stalls during its claim decision loses the locks of its claim after five seconds, because other claims wait for the same rates", function* () {
  yield* seedDomains({ "a.test": 1 })
  const queue = yield* MessageQueue
  const locked = Effect.gen(function* () {
    const due = yield* queue.lockDue({ limit: 1, leaseSeconds: 60, perMinute: 60, perDomainMinute: null }, 1)
    return [
      due?.candidates.length,
      yield* sql`select current_setting('idle_in_transaction_session_timeout') as timeout`,
    ]
  })
  expect(yield* inTransaction(locked)).toEqual([1, [{ timeout: "5s" }]])
})

test("a rejection of the sender pauses sending from the campaign to only that domain, for that time", function* () {
  const { settle } = yield* Settlements
  const campaign = yield* seedDomains({ "a.test": 3, "b.test": 2 })
  const [refused] = yield* claim({ limit: 1 })
  const settlement = { state: "retry", attempts: 0, delaySeconds: 3600, refusedWith: "550 5.7.1" } as const
  expect(yield* settle(refused!, settlement)).toBe(true)
  expect(domains(yield* claim())).toEqual(["b.test", "b.test"])
  const due = yield* waits(campaign.id)
  expect(due.map((wait) => Math.round(wait / 60))).toEqual([60, 60, 60])
  const paused = sql`select domain, pause_status as status from campaign_domains where campaign_id = ${campaign.id}`
  expect(yield* paused).toEqual([{ domain: "a.test", status: "550 5.7.1" }])

  const other = yield* seedDomains({ "a.test": 1 })
  expect((yield* claim()).map(({ campaignId }) => campaignId)).toEqual([other.id])

  yield* sql`update campaign_domains set paused_until = clock_timestamp()`
  yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaign.id}`
  expect(domains(yield* claim())).toEqual(["a.test", "a.test", "a.test"])
})
