import { describe, expect } from "@effect/vitest"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { DeadLetterRepository } from "@outreach/domain/deliveries/DeadLetterRepository"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { FailureGroupRepository } from "@outreach/domain/deliveries/FailureGroupRepository"
import type { DeliveryId, FailureGroupId } from "@outreach/domain/Identifier"
import { DeliveryGauges, DUE_QUEUES } from "@outreach/postgres/deliveries/DeliveryGauges"
import { whileOpen } from "@outreach/testing/inTransaction"
import { publishSent } from "@outreach/testing/publishTogether"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sendCampaign } from "@outreach/testing/sendCampaign"
import { fragment, sql, value } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Schedule } from "effect"

const { test } = testsOnDatabase()
const readDue = Effect.flatMap(DeliveryGauges, (gauges) => gauges.readDue)
const readState = Effect.flatMap(DeliveryGauges, (gauges) => gauges.readState)
const none = { count: 0, oldestSeconds: 0 }

const noneDue = { ...none, maxLagEvents: 0, maxLagSeconds: 0 }

/** Seeds an endpoint with unread events that were published a number of seconds ago. */
const seedLog = Effect.fnUntraced(function* (count: number, secondsAgo: number) {
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, endpoint } = seeded
  yield* publishSent(seeded.campaign, count)
  const ago = fragment`make_interval(secs => ${secondsAgo}::int)`
  yield* sql`update events set emitted_at = emitted_at - ${ago} where organization_id = ${organization.id}`
  yield* sql`update reader_positions set begun_at = begun_at - ${ago} where endpoint_id = ${endpoint.id}`
  return seeded
})
/** Seeds an endpoint with queued deliveries that became due a number of seconds ago. */
const seedDue = Effect.fnUntraced(function* (count: number, secondsAgo: number) {
  const seeded = yield* seedCampaign({ recipients: 0 })
  const events = yield* publishSent(seeded.campaign, count)
  yield* sql`
    insert into deliveries (organization_id, endpoint_id, event_id, due_at)
    select ${seeded.organization.id}, ${seeded.endpoint.id}, event, clock_timestamp() - make_interval(secs => ${secondsAgo}::int)
    from unnest(${events}::text[]) as event`
  yield* sql`
    update reader_positions set begun_at = last, begun_id = '~' from organization_clock clock
    where clock.organization_id = ${seeded.organization.id} and endpoint_id = ${seeded.endpoint.id}`
  return seeded
})

// The gauges cover the whole database, which is empty at first and fills from test to test.
describe("DeliveryGauges", { shuffle: false }, () => {
  test("returns zeros for an empty database", function* () {
    expect(yield* readDue).toEqual({
      deliveries: { live: noneDue, probed: noneDue, replay: noneDue },
      inFlight: 0,
      messages: none,
      inbox: none,
      hits: none,
      unsubscriptions: none,
    })
    expect(yield* readState).toMatchObject({
      breakersOpen: 0,
      endpointsFailing: { some: 0, none: 0 },
      clockAheadSeconds: 0,
      deadLetters: { rejected: 0, exhausted: 0, poison: 0 },
      horizon: {
        replication_slot: { transactions: 0, seconds: 0 },
        prepared_transaction: { transactions: 0, seconds: 0 },
      },
    })
  })

  test("separates live deliveries, deliveries to failing endpoints, and replays", function* () {
    yield* seedDue(3, 100)
    const probed = yield* seedDue(2, 500)
    const replayed = yield* seedDue(4, 900)
    const disabled = yield* seedDue(5, 3000)
    const retried = yield* seedDue(6, -3600)
    const held = yield* seedDue(7, 4000)
    yield* sql`update endpoint_readers set failures = 7, allowance = 1, probe_at = clock_timestamp() where endpoint_id = ${probed.endpoint.id}`
    // Has failed, but not often enough to be probed.
    yield* sql`update endpoint_readers set failures = 2 where endpoint_id = ${retried.endpoint.id}`
    yield* sql`update deliveries set replay = true where endpoint_id = ${replayed.endpoint.id}`
    yield* sql`update webhook_endpoints set enabled = false where id = ${disabled.endpoint.id}`
    yield* sql`
      update deliveries set owner = gen_random_uuid(), owned_at = clock_timestamp() where endpoint_id = ${held.endpoint.id}`

    const { deliveries: due, inFlight } = yield* readDue
    const { breakersOpen } = yield* readState
    expect([due.live.count, due.probed.count, due.replay.count]).toEqual([3, 2, 4])
    const { deliveries: oldest } = yield* Effect.flatMap(DeliveryGauges, (gauges) => gauges.readOldest)
    expect([oldest.live.count, oldest.probed.count, oldest.replay.count]).toEqual([1, 1, 1])
    for (const queue of DUE_QUEUES) {
      expect(oldest[queue].oldestSeconds).toBeGreaterThanOrEqual(due[queue].oldestSeconds)
      expect(oldest[queue].maxLagSeconds).toBeGreaterThanOrEqual(due[queue].maxLagSeconds)
      expect(oldest[queue].oldestSeconds).toBeLessThan(due[queue].oldestSeconds + 100)
    }
    expect(due.live.oldestSeconds).toBeGreaterThanOrEqual(100)
    expect(due.live.oldestSeconds).toBeLessThan(500)
    expect(due.probed.oldestSeconds).toBeGreaterThanOrEqual(500)
    expect(due.probed.oldestSeconds).toBeLessThan(900)
    expect(due.replay.oldestSeconds).toBeGreaterThanOrEqual(900)
    expect([inFlight, breakersOpen]).toEqual([7, 1])
  })

  test("counts unread events by the state of each endpoint, and finds the largest lag", function* () {
    const before = yield* readDue
    yield* seedLog(12, 10_000)
    yield* seedLog(5, 20_000)
    const probed = yield* seedLog(9, 30_000)
    const disabled = yield* seedLog(8, 40_000)
    const open = yield* seedLog(6, 50_000)
    yield* sql`
      update endpoint_readers set allowance = 2 where endpoint_id = ${probed.endpoint.id}`
    yield* sql`update webhook_endpoints set enabled = false where id = ${disabled.endpoint.id}`
    yield* sql`
      update reader_positions set begun_at = last, begun_id = '~', open = array(
        select id from events where events.organization_id = clock.organization_id)
      from organization_clock clock
      where clock.organization_id = ${open.organization.id} and endpoint_id = ${open.endpoint.id}`
    // Has no subscription for the published events.
    const unsubscribed = yield* seedLog(7, 60_000)
    yield* sql`update webhook_endpoints set event_types = '{outreach.email_opened}' where id = ${unsubscribed.endpoint.id}`

    const { deliveries, inFlight } = yield* readDue
    const { live, probed: failing, replay } = deliveries
    expect(live.count).toBe(before.deliveries.live.count + 17)
    expect(live.maxLagEvents).toBe(12)
    for (const seconds of [live.oldestSeconds, live.maxLagSeconds]) {
      expect(seconds).toBeGreaterThanOrEqual(20_000)
      expect(seconds).toBeLessThan(25_000)
    }
    expect(failing.count).toBe(before.deliveries.probed.count + 9)
    expect(failing.maxLagEvents).toBe(9)
    expect(failing.maxLagSeconds).toBeGreaterThanOrEqual(30_000)
    // The due replays are the queued rows.
    expect([replay.count, replay.maxLagEvents]).toEqual([4, 4])
    expect(inFlight).toBe(before.inFlight + 6)
  })

  test("finds the current backlog at each reading, of endpoints with and without an earlier backlog", function* () {
    const { enable } = yield* EndpointRepository
    const leases = yield* DeliveryLeases
    const { token, intend, settle } = yield* workerOn()
    const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
    const asleep = yield* seedLog(3, 100)
    yield* sql`update webhook_endpoints set enabled = false where id = ${asleep.endpoint.id}`
    const before = yield* readDue
    const more = Effect.map(readDue, ({ deliveries, inFlight }) => [
      deliveries.live.count - before.deliveries.live.count,
      inFlight - before.inFlight,
    ])
    expect(yield* more).toEqual([0, 0])

    yield* publishSent(campaign, 2)
    expect(yield* more).toEqual([2, 0])
    yield* enable(asleep.endpoint.id)
    expect(yield* more).toEqual([5, 0])
    yield* sql`update endpoint_readers set owner = ${token}::uuid where endpoint_id = ${endpoint.id}`
    const calls = yield* leases.read(token, [{ endpointId: endpoint.id, limit: 2 }])
    yield* intend(calls)
    expect(yield* more).toEqual([3, 2])
    expect(yield* more).toEqual([3, 2])
    yield* settle(calls)
    expect(yield* more).toEqual([3, 0])
  })

  test("measures how far an organization's clock is ahead", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`update organization_clock set last = clock_timestamp() + interval '2 hours' where organization_id = ${organization.id}`
    const { clockAheadSeconds } = yield* readState
    expect(clockAheadSeconds).toBeGreaterThan(3600)
    expect(clockAheadSeconds).toBeLessThanOrEqual(7200)
  })

  test("counts unreplayed dead letters by reason, except those of muted groups of failures", function* () {
    const groups = yield* FailureGroupRepository
    yield* seedDeadLetters(3, { reason: "rejected" })
    const poison = yield* seedDeadLetters(2, { reason: "poison" })
    const replayed = yield* seedDeadLetters(1, { reason: "rejected" })
    const dead = yield* value<DeliveryId>`select id from dead_letters where endpoint_id = ${replayed.endpoint.id}`
    expect(yield* (yield* DeadLetterRepository).replay(dead)).toBe(true)
    expect((yield* readState).deadLetters).toEqual({ rejected: 3, exhausted: 0, poison: 2 })

    const group = yield* value<FailureGroupId>`select id from failure_groups where endpoint_id = ${poison.endpoint.id}`
    yield* groups.mute(group, "known, ticket 4711")
    expect((yield* readState).deadLetters).toEqual({ rejected: 3, exhausted: 0, poison: 0 })
    yield* groups.unmute(group)
    expect((yield* readState).deadLetters).toEqual({ rejected: 3, exhausted: 0, poison: 2 })
  })

  test("counts the e-mails of campaigns in their send window", function* () {
    const [open, scheduled] = [yield* seedCampaign({ recipients: 3 }), yield* seedCampaign({ recipients: 5 })]
    for (const { organization, campaign } of [open, scheduled]) {
      yield* sql`
        insert into messages (organization_id, recipient_id, campaign_id, due_at)
        select organization_id, id, ${campaign.id}, clock_timestamp() - interval '50 seconds' from recipients
        where organization_id = ${organization.id}`
    }
    yield* sql`
      update campaigns set status = 'sending', window_start = clock_timestamp() - interval '1 day', updated_at = clock_timestamp() - interval '1 day'
      where id = ${open.campaign.id}`
    const { messages } = yield* readDue
    expect(messages.count).toBe(3)
    expect(messages.oldestSeconds).toBeGreaterThanOrEqual(50)
  })

  test("measures the delay of an e-mail since the first time it could be sent", function* () {
    yield* sql`update campaigns set status = 'cancelled'`
    const { campaign, organization } = yield* seedCampaign({ recipients: 2 })
    const { id } = campaign
    yield* sql`update campaigns set window_start = clock_timestamp() - interval '22 days' where id = ${id}`
    yield* sendCampaign(id)
    const late = Effect.map(readDue, ({ messages }) => messages)
    /** Moves all times an hour back. */
    const anHourLater = sql`update campaigns set updated_at = updated_at - interval '1 hour' where id = ${id}`
    const SOON = 1800

    expect((yield* late).count).toBe(2)
    expect((yield* late).oldestSeconds).toBeLessThan(SOON)
    yield* anHourLater
    yield* sql`update messages set due_at = due_at - interval '1 hour' where campaign_id = ${id}`
    expect((yield* late).oldestSeconds).toBeGreaterThan(SOON)

    yield* commandCampaign(id, "pause")
    yield* anHourLater
    yield* sendCampaign(id)
    expect((yield* late).oldestSeconds).toBeLessThan(SOON)
    yield* anHourLater

    const pace = (next: string) => sql`
      insert into send_rates (scope, next_at) values (${`campaign ${id}`}, clock_timestamp() + ${next}::interval)
      on conflict (scope) do update set next_at = excluded.next_at`
    yield* pace("1 second")
    expect((yield* late).oldestSeconds).toBeGreaterThan(SOON)
    yield* sql`update campaigns set per_minute = 1 where id = ${id}`
    expect((yield* late).oldestSeconds).toBe(0)
    yield* pace("-40 minutes")
    expect((yield* late).oldestSeconds).toBeGreaterThan(SOON)
    expect((yield* late).oldestSeconds).toBeLessThan(3600)

    yield* sql`update campaigns set per_minute = null, updated_at = updated_at - interval '3 days' where id = ${id}`
    yield* sql`update messages set due_at = due_at - interval '3 days' where campaign_id = ${id}`
    expect((yield* late).oldestSeconds).toBeGreaterThan(86_400)
    yield* sql`
      insert into senders (organization_id, id, from_name, from_address, dkim_domain)
      values (${organization.id}, 'snd_x', 'Acme', 'outreach@acme.test', 'acme.test')`
    yield* sql`insert into sender_ramps (organization_id, sender_id, daily) values (${organization.id}, 'snd_x', '{1}')`
    expect((yield* late).oldestSeconds).toBeLessThanOrEqual(86_400)
  })

  test("counts unclassified hits, and unsubscriptions without a suppression", function* () {
    const { organization } = yield* seedCampaign({ recipients: 4 })
    yield* sql`
      with recipient as (
        select *, row_number() over (order by id) = 1 as over from recipients where organization_id = ${organization.id}
      ), unsubscribed as (
        insert into unsubscriptions (organization_id, campaign_id, recipient_id, from_organization, asked_at, suppressed_at)
        select organization_id, campaign_id, id, true, clock_timestamp() - interval '5 seconds', case when over then clock_timestamp() end
        from recipient
      )
      insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
      select organization_id, 'hit_' || id, id, 'open', 'GET', '', '{}', clock_timestamp() - interval '70 seconds',
        case when over then clock_timestamp() end, case when over then array[]::text[] end
      from recipient`
    const { hits, unsubscriptions } = yield* readDue
    expect([hits.count, unsubscriptions.count]).toEqual([3, 3])
    expect(hits.oldestSeconds).toBeGreaterThanOrEqual(70)
    expect(unsubscriptions.oldestSeconds).toBeGreaterThanOrEqual(5)
    expect(unsubscriptions.oldestSeconds).toBeLessThan(70)
  })

  test("counts pending and quarantined inbound events", function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    for (const id of ["evt_1", "evt_2", "evt_3", "evt_4"]) yield* receiveEvent(seeded, id, "clinician.moved", {})
    yield* sql`update inbox set received_at = clock_timestamp() - interval '70 seconds'`
    yield* sql`update inbox set quarantined_at = clock_timestamp(), reason = 'no reason' where event_id = 'evt_1'`
    yield* sql`update inbox set applied_at = clock_timestamp() where event_id = 'evt_2'`
    const { inbox } = yield* readDue
    expect(inbox.count).toBe(2)
    expect(inbox.oldestSeconds).toBeGreaterThanOrEqual(70)
    expect((yield* readState).inboxQuarantined).toBe(1)
  })

  test("shows the age of an open transaction", function* () {
    // Other tests share the server, so this waits until their transactions end.
    const isShort = Effect.map(readState, ({ horizon }) => horizon.session.transactions < 50)
    yield* Effect.repeat(isShort, { until: (short) => short, schedule: Schedule.spaced("50 millis") })
    const during = yield* whileOpen(
      Effect.andThen(sql`set transaction isolation level repeatable read`, sql`select count(*) from organizations`),
      () =>
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: 60 }), () => sql`select pg_current_xact_id()::text`)
          return (yield* readState).horizon.session
        }),
    )
    expect(during.transactions).toBeGreaterThanOrEqual(60)
    expect(during.seconds).toBeGreaterThan(0)
  })
})
