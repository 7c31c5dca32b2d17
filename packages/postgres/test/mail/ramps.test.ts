import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { MessageLease } from "@outreach/domain/mail/Message"
import type { MessageSettlement } from "@outreach/domain/mail/MessageQueue"
import { Settlements } from "@outreach/domain/mail/Settlements"
import type { Ramp } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/Senders"
import { FactReader } from "@outreach/postgres/operators/FactReader"
import { PROPERTY_RUNS } from "@outreach/testing/propertyRuns"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { sql, value } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"
import fc from "fast-check"
import { beforeEach, describe, expect } from "vitest"
import { simulatedClock } from "../simulatedClock.ts"

const url = migratedDatabase()
const setClock = simulatedClock(url)
const { run, test } = testsOnDatabase({ url })

beforeEach(() =>
  run(function* () {
    yield* cancelCampaigns
    yield* sql`delete from send_rates`
    yield* setClock("2026-11-23T12:00:00Z")
  }),
)

/** Opens a campaign's window for years, and starts sending. */
const send = Effect.fnUntraced(function* ({ id }: { readonly id: Parameters<typeof sendCampaign>[0] }) {
  yield* sql`update campaigns set window_start = '2020-01-01', window_end = '2040-01-01' where id = ${id}`
  yield* sendCampaign(id)
})

/** Seeds a sending campaign with or without a ramp of its sender. */
const seedSending = Effect.fnUntraced(function* (recipients: number, ramp: Ramp | null) {
  const seeded = yield* seedCampaign({ recipients })
  const senders = yield* SenderRepository
  const { id } = yield* senders.add(
    {
      organizationId: seeded.organization.id,
      id: yield* createIdentifier("sender"),
      programId: null,
      fromName: "",
      fromAddress: "outreach@acme.test",
      replyTo: null,
      dkimDomain: "acme.test",
      bounceDomain: null,
      ramp,
    },
    { selector: "s1", publicKey: "", privateKey: Redacted.make("") },
  )
  yield* senders.activate(id)
  yield* send(seeded.campaign)
  return { ...seeded, senderId: id }
})

/** Claims with eight workers at once until no messages are left. */
const claimAll = Effect.gen(function* () {
  const leases: Array<MessageLease> = []
  while (true) {
    const claims = yield* Effect.replicateEffect(claimMessages(10), 8, { concurrency: "unbounded" })
    if (claims.flat().length === 0) return leases
    leases.push(...claims.flat())
  }
})
const settleAll = (leases: ReadonlyArray<MessageLease>, settlement: MessageSettlement) =>
  Settlements.use(({ settle }) =>
    Effect.forEach(leases, (lease) => settle(lease, settlement), { concurrency: "unbounded" }),
  )
const rampOf = (senderId: Parameters<SenderRepository["Service"]["find"]>[0]) =>
  SenderRepository.use(({ find }) => find(senderId)).pipe(Effect.map(({ ramp }) => ramp))
const ofDay = (leases: ReadonlyArray<MessageLease>, day: string) =>
  leases.filter(({ ramp }) => ramp?.day === day).length

describe("a sender's ramp", () => {
  test("allows exactly each day's number over concurrent claims, and any number after its last day", function* () {
    const { senderId } = yield* seedSending(60, "7,20")
    expect(yield* rampOf(senderId)).toEqual({ daily: "7,20", day: 1, sentToday: 0, allowedToday: 7 })
    expect(yield* claimAll).toHaveLength(7)
    expect(yield* rampOf(senderId)).toEqual({ daily: "7,20", day: 1, sentToday: 7, allowedToday: 7 })
    yield* setClock("2026-11-24T00:00:01Z")
    // The leases of the first day have expired.
    expect(yield* rampOf(senderId)).toMatchObject({ day: 2, sentToday: 0, allowedToday: 20 })
    expect(yield* claimAll).toHaveLength(20)
    yield* setClock("2026-11-24T23:59:50Z")
    expect(yield* claimAll).toHaveLength(0)
    yield* setClock("2026-11-25T12:00:00Z")
    expect(yield* rampOf(senderId)).toEqual({ daily: "7,20", day: 3, sentToday: null, allowedToday: null })
    expect(yield* claimAll).toHaveLength(60)
  })

  test("applies while the day changes between concurrent claims", function* () {
    const { senderId } = yield* seedSending(80, "15,25,80")
    const leases = [...(yield* claimMessages(5))]
    yield* setClock("2026-11-23T23:59:59.8Z")
    for (let days = 0; days < 100 && ofDay(leases, "2026-11-24") === 0; days++) {
      const claims = yield* Effect.replicateEffect(claimMessages(3), 8, { concurrency: "unbounded" })
      leases.push(...claims.flat())
    }
    leases.push(...(yield* claimAll))
    expect(ofDay(leases, "2026-11-23")).toBeLessThanOrEqual(15)
    expect(ofDay(leases, "2026-11-24")).toBe(25)
    expect(leases).toHaveLength(ofDay(leases, "2026-11-23") + 25)
    expect(yield* rampOf(senderId)).toMatchObject({ day: 2, sentToday: 25 })
  })

  test("is shared by all campaigns of the sender, and doesn't delay other organizations", function* () {
    const { campaign } = yield* seedSending(30, "10")
    const second = yield* createCampaign({ ...campaign, name: "Second" })
    const lines = Array.from({ length: 30 }, (_, i) => ({ number: i + 2, npi: npi(100 + i), email: email(100 + i) }))
    yield* importLines(second.id, lines)
    yield* send(second)
    const { campaign: other } = yield* seedSending(40, null)
    const leases = yield* claimAll
    const count = (id: string) => leases.filter(({ campaignId }) => campaignId === id).length
    expect([count(campaign.id) + count(second.id), count(other.id)]).toEqual([10, 40])
    expect(Math.min(count(campaign.id), count(second.id))).toBeGreaterThan(0)
  })

  test("gives its campaigns no turn until the next day, or for a minute, and their e-mails aren't late", function* () {
    const countDue = Effect.map(
      FactReader.use(({ readDue }) => readDue),
      ({ messagesDue }) => messagesDue,
    )
    const { campaign } = yield* seedSending(30, "10")
    const wait = value<number>`
        select extract(epoch from least(turn.next_at, of_all.next_at) - clock_timestamp())::float8 as seconds
        from campaign_turns turn join organization_turns of_all using (organization_id) where campaign_id = ${campaign.id}`
    expect(yield* countDue).toBe(30)
    yield* claimAll
    expect(yield* countDue).toBe(0)
    expect(yield* wait).toBeGreaterThan(50)
    yield* setClock("2026-11-23T23:59:40Z")
    expect(yield* claimAll).toHaveLength(0)
    const untilMidnight = yield* wait
    expect(untilMidnight).toBeGreaterThan(0)
    expect(untilMidnight).toBeLessThanOrEqual(20)
    const rows = yield* sql`select from messages where campaign_id = ${campaign.id} and due_at > '2026-11-23T23:59:40Z'`
    expect(rows).toEqual([])
  })

  test("counts a message again after its worker died, and not one that wasn't sent", function* () {
    const { senderId } = yield* seedSending(30, "10,30")
    const dead = yield* claimMessages(4)
    yield* sql`update messages set lease_until = clock_timestamp() - interval '1 second' where lease_token is not null`
    expect([dead.length, (yield* claimMessages(4)).length]).toEqual([4, 4])
    expect(yield* rampOf(senderId)).toMatchObject({ sentToday: 8 })

    const unreachable = yield* claimMessages(4)
    expect(unreachable).toHaveLength(2)
    const failure = { class: "refused", code: "ECONNREFUSED" } as const
    const settlement = { state: "retry", attempts: 0, delaySeconds: 0, failure } as const
    expect(yield* settleAll(unreachable, settlement)).toEqual([true, true])
    // A worker that has lost its lease doesn't return its allowance.
    expect(yield* settleAll([...unreachable, dead[0]!], settlement)).toEqual([false, false, false])
    expect(yield* rampOf(senderId)).toMatchObject({ sentToday: 8 })

    const deferred = yield* claimMessages(4)
    yield* settleAll(deferred, { state: "retry", attempts: 1, delaySeconds: 0 })
    expect(yield* claimAll).toEqual([])
    expect(yield* rampOf(senderId)).toEqual({ daily: "10,30", day: 1, sentToday: 10, allowedToday: 10 })
  })

  test("skips a day without sends, and doesn't return allowance to a different day", function* () {
    const { senderId } = yield* seedSending(30, "10,20")
    const failure = { class: "refused", code: "ECONNREFUSED" } as const
    const settlement = { state: "retry", attempts: 0, delaySeconds: 0, failure } as const
    yield* settleAll(yield* claimAll, settlement)
    yield* setClock("2026-11-26T12:00:00Z")
    expect(yield* rampOf(senderId)).toMatchObject({ day: 1, sentToday: 0 })
    const late = yield* claimAll
    expect(late).toHaveLength(10)
    yield* setClock("2026-11-27T00:00:10Z")
    expect(yield* claimMessages(5)).toHaveLength(5)
    yield* settleAll(late, settlement)
    expect(yield* rampOf(senderId)).toEqual({ daily: "10,20", day: 2, sentToday: 5, allowedToday: 20 })
  })

  test("continues with the last counted day when the clock was set back, until it restarts", function* () {
    const { senderId } = yield* seedSending(30, "3,5")
    expect(yield* claimAll).toHaveLength(3)
    yield* setClock("2026-11-22T12:00:00Z")
    expect(yield* claimAll).toHaveLength(0)
    expect(yield* rampOf(senderId)).toMatchObject({ day: 1, sentToday: 3 })
    yield* (yield* SenderRepository).update(senderId, { ramp: "3,5" })
    expect(yield* claimAll).toHaveLength(3)
    yield* setClock("2026-11-23T00:00:01Z")
    expect(yield* claimAll).toHaveLength(5)
  })

  test("restarts with a new ramp that includes today's count, and stops when it is removed", function* () {
    const { senderId } = yield* seedSending(30, "3,5")
    const senders = yield* SenderRepository
    expect(yield* claimAll).toHaveLength(3)
    expect((yield* senders.update(senderId, { ramp: "4,9" })).ramp).toEqual({
      ...{ daily: "4,9", day: 1, sentToday: 3, allowedToday: 4 },
    })
    expect(yield* claimAll).toHaveLength(1)
    expect((yield* senders.update(senderId, { fromName: "Acme" })).ramp).toMatchObject({ daily: "4,9", sentToday: 4 })
    expect((yield* senders.update(senderId, { ramp: null })).ramp).toBe(null)
    expect(yield* claimAll).toHaveLength(26)
    yield* senders.update(senderId, { ramp: "1" })
    expect((yield* senders.find(senderId)).ramp).toMatchObject({ day: 1, sentToday: 0 })
  })

  test("lets a campaign complete, and counts each sent message once", function* () {
    const { senderId, campaign } = yield* seedSending(4, "10")
    const leases = yield* claimAll
    expect(yield* Effect.forEach(leases, settleSent)).toEqual([true, true, true, true])
    expect(yield* rampOf(senderId)).toMatchObject({ sentToday: 4 })
    expect(yield* sql`select from messages where campaign_id = ${campaign.id}`).toEqual([])
  })
})

/** The number of messages that a sender tries to send on some days; each day is relative to the previous one. */
const someDays = fc.record({
  daily: fc
    .array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
    .map((days) => days.sort((one, other) => one - other)),
  days: fc.array(fc.record({ gap: fc.integer({ min: 1, max: 3 }), wanted: fc.nat({ max: 12 }) }), { maxLength: 8 }),
})

test("ramp_slots allows the number of each day with sends, for any demand on any days", function* () {
  for (const { daily, days } of fc.sample(someDays, PROPERTY_RUNS)) {
    let row = { number: 1, countedOn: "2026-01-01", sent: 0 }
    let today = 1
    const sentOn: Array<number> = []
    for (const { gap, wanted } of days) {
      today += gap
      const [next] = yield* sql<{ number: number; slots: number; today: string }>`
        select ramp_day(${row.number}::int, ${row.countedOn}::date, ${row.sent}::int, today) as number,
          ramp_slots(${daily}::int[], ${row.number}::int, ${row.countedOn}::date, ${row.sent}::int, today) as slots,
          today::text as today
        from (select date '2026-01-01' + ${today}::int as today) as day`
      expect(next!.slots).toBe(daily[sentOn.length] ?? 2_147_483_647)
      const sent = Math.min(wanted, next!.slots)
      row = { number: next!.number, countedOn: next!.today, sent }
      if (sent > 0) sentOn.push(sent)
    }
    for (const [i, sent] of sentOn.entries()) expect(sent).toBeLessThanOrEqual(daily[i] ?? Infinity)
  }
})
