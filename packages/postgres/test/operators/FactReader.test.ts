import { describe, expect } from "@effect/vitest"
import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import type { DeliveryId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { DUE_QUEUES, READINGS } from "@outreach/domain/operators/facts"
import { FactReader, readFacts } from "@outreach/postgres/operators/FactReader"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sendCampaign } from "@outreach/testing/sendCampaign"
import { fragment, sql, value, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Schedule } from "effect"

const { test } = testsOnDatabase()
const readDue = FactReader.use((facts) => facts.readDue)
const readState = readFacts(READINGS.state)
/** The active alerts, and whether their age is known. */
const alerts = Effect.map(
  FactReader.use(({ readAlerts }) => readAlerts(null)),
  (active) => active.map(({ name, value, age }) => [name, value, age !== null]),
)

/** The age of an active alert on the deployment or on one organization. */
const ageOf = (alert: string, organizationId: OrganizationId | null = null) =>
  FactReader.use(({ readAlerts }) =>
    Effect.map(readAlerts(organizationId), (active) => active.find(({ name }) => name === alert)?.age),
  )

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
describe("FactReader", { shuffle: false }, () => {
  test("returns zeros for an empty database", function* () {
    const ofQueues = { live: 0, probed: 0, replay: 0 }
    expect(yield* readDue).toEqual({
      ...{ deliveriesDue: ofQueues, deliveriesOldestSeconds: ofQueues, deliveriesInFlight: 0 },
      ...{ maxLagEvents: ofQueues, maxLagSeconds: ofQueues },
      ...{ messagesDue: 0, messagesOldestSeconds: 0, inboxWaiting: 0, inboxOldestSeconds: 0 },
      ...{ hitsWaiting: 0, hitsOldestSeconds: 0, unsubscriptionsWaiting: 0, unsubscriptionsOldestSeconds: 0 },
    })
    expect(yield* readState).toMatchObject({
      ...{ workers: 0, workersPaused: 0, breakersOpen: 0, clockAheadSeconds: 0, clockDoubted: 0 },
      failuresLasting: 0,
      endpointsFailing: { some: 0, none: 0 },
      deadLetters: { rejected: 0, exhausted: 0, poison: 0 },
      horizonTransactions: { replication_slot: 0, prepared_transaction: 0 },
      horizonSeconds: { replication_slot: 0, prepared_transaction: 0 },
    })
    expect(yield* alerts).toEqual([["OutreachNoWorker", 0, false]])
    yield* sql`insert into delivery_workers (token, alive_until) values (gen_random_uuid(), now() + interval '1 hour')`
    expect(yield* alerts).toEqual([])
    yield* sql`insert into restores (id, restored_to) values ('rst_1', now())`
    expect(yield* alerts).toEqual([["OutreachWorkersPaused", 1, true]])
    yield* sql`truncate delivery_workers, restores`
  })

  test("dates a pause of the workers and a doubt about the clock", function* () {
    const [HOUR, DAY] = [3600, 86_400]
    yield* sql`update clock_watch set identity = 'moved', seen_at = now() - interval '1 day'`
    expect(yield* ageOf("OutreachWorkersPaused")).toBeGreaterThanOrEqual(DAY)
    yield* sql`insert into restores (id, restored_to, begun_at) values ('rst_1', now(), now() - interval '1 hour')`
    const pause = yield* ageOf("OutreachWorkersPaused")
    expect(pause).toBeGreaterThanOrEqual(HOUR)
    expect(pause).toBeLessThan(DAY)
    yield* sql`truncate restores`

    const watch = (ahead: string) => sql`select doubt from watch_clock(now() + ${ahead}::interval, now())`
    yield* watch("1 day")
    yield* sql`update clock_watch set identity = null, seen_at = null, doubted_from = doubted_from - interval '1 hour'`
    // Another worker trusts the clock.
    for (const ahead of ["0", "1 day"]) yield* watch(ahead)
    expect(yield* ageOf("OutreachClockDoubted")).toBeGreaterThanOrEqual(HOUR)
    yield* sql`update clock_watch set doubted_at = doubted_at - interval '2 minutes'`
    expect(yield* ageOf("OutreachClockDoubted")).toBeUndefined()
    yield* watch("1 day")
    expect(yield* ageOf("OutreachClockDoubted")).toBeLessThan(HOUR)
    yield* sql`update clock_watch set doubted_at = null, doubted_from = null`
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

    const due = yield* readDue
    const { breakersOpen } = yield* readState
    expect(due.deliveriesDue).toEqual({ live: 3, probed: 2, replay: 4 })
    const uncounted = yield* readFacts(READINGS.due)
    expect(uncounted.deliveriesDue).toEqual({ live: 1, probed: 1, replay: 1 })
    const oldest = due.deliveriesOldestSeconds
    for (const queue of DUE_QUEUES) {
      expect(uncounted.deliveriesOldestSeconds[queue]).toBeGreaterThanOrEqual(oldest[queue])
      expect(uncounted.maxLagSeconds[queue]).toBeGreaterThanOrEqual(due.maxLagSeconds[queue])
      expect(uncounted.deliveriesOldestSeconds[queue]).toBeLessThan(oldest[queue] + 100)
    }
    expect(oldest.live).toBeGreaterThanOrEqual(100)
    expect(oldest.live).toBeLessThan(500)
    expect(oldest.probed).toBeGreaterThanOrEqual(500)
    expect(oldest.probed).toBeLessThan(900)
    expect(oldest.replay).toBeGreaterThanOrEqual(900)
    expect([due.deliveriesInFlight, breakersOpen]).toEqual([7, 1])
    const ofProbed = yield* readFacts([...READINGS.due, "breakersOpen"], probed.organization.id)
    expect(ofProbed).toMatchObject({
      ...{ deliveriesDue: { live: 0, probed: 1, replay: 0 }, deliveriesInFlight: 0, breakersOpen: 1 },
      deliveriesOldestSeconds: { live: 0, replay: 0 },
    })
    yield* sql`update webhook_endpoints set enabled = false where id = ${probed.endpoint.id}`
    expect((yield* readState).breakersOpen).toBe(0)
    yield* sql`update webhook_endpoints set enabled = true where id = ${probed.endpoint.id}`
  })

  test("counts unread events by the state of each endpoint, and finds the largest lag", function* () {
    const before = yield* readDue
    yield* seedLog(12, 10_000)
    yield* seedLog(5, 20_000)
    const probed = yield* seedLog(9, 30_000)
    const disabled = yield* seedLog(8, 40_000)
    const open = yield* seedLog(6, 50_000)
    yield* sql`update endpoint_readers set allowance = 2 where endpoint_id = ${probed.endpoint.id}`
    yield* sql`update webhook_endpoints set enabled = false where id = ${disabled.endpoint.id}`
    yield* sql`
      update reader_positions set begun_at = last, begun_id = '~', open = array(
        select id from events where events.organization_id = clock.organization_id)
      from organization_clock clock
      where clock.organization_id = ${open.organization.id} and endpoint_id = ${open.endpoint.id}`
    // Has no subscription for the published events.
    const unsubscribed = yield* seedLog(7, 60_000)
    yield* sql`update webhook_endpoints set event_types = '{outreach.email_opened}' where id = ${unsubscribed.endpoint.id}`

    const { deliveriesDue, deliveriesOldestSeconds, maxLagEvents, maxLagSeconds, deliveriesInFlight } = yield* readDue
    const { live, probed: failing } = before.deliveriesDue
    // The due replays are the queued rows.
    expect(deliveriesDue).toEqual({ live: live + 17, probed: failing + 9, replay: 4 })
    expect(maxLagEvents).toEqual({ live: 12, probed: 9, replay: 4 })
    for (const seconds of [deliveriesOldestSeconds.live, maxLagSeconds.live]) {
      expect(seconds).toBeGreaterThanOrEqual(20_000)
      expect(seconds).toBeLessThan(25_000)
    }
    expect(maxLagSeconds.probed).toBeGreaterThanOrEqual(30_000)
    const ofProbed = yield* readFacts(["deliveriesOldestSeconds"], probed.organization.id)
    expect(ofProbed.deliveriesOldestSeconds).toMatchObject({ live: 0, replay: 0 })
    expect(ofProbed.deliveriesOldestSeconds.probed).toBeGreaterThanOrEqual(30_000)
    expect(deliveriesInFlight).toBe(before.deliveriesInFlight + 6)
  })

  test("finds the current backlog at each reading, of endpoints with and without an earlier backlog", function* () {
    const { enable } = yield* EndpointRepository
    const leases = yield* DeliveryLeases
    const { token, settle } = yield* workerOn()
    const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
    const asleep = yield* seedLog(3, 100)
    yield* sql`update webhook_endpoints set enabled = false where id = ${asleep.endpoint.id}`
    const before = yield* readDue
    const more = Effect.map(readDue, ({ deliveriesDue, deliveriesInFlight }) => [
      deliveriesDue.live - before.deliveriesDue.live,
      deliveriesInFlight - before.deliveriesInFlight,
    ])
    expect(yield* more).toEqual([0, 0])

    yield* publishSent(campaign, 2)
    expect(yield* more).toEqual([2, 0])
    yield* enable(asleep.endpoint.id)
    expect(yield* more).toEqual([5, 0])
    yield* sql`update endpoint_readers set owner = ${token}::uuid where endpoint_id = ${endpoint.id}`
    const calls = yield* leases.read(token, [{ endpointId: endpoint.id, limit: 2 }])
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
    const groups = yield* DeliveryRepository
    const rejected = yield* seedDeadLetters(3, { reason: "rejected" })
    const poison = yield* seedDeadLetters(2, { reason: "poison" })
    const replayed = yield* seedDeadLetters(1, { reason: "rejected" })
    const dead = yield* value<DeliveryId>`select id from dead_letters where endpoint_id = ${replayed.endpoint.id}`
    expect(yield* (yield* DeliveryRepository).replay(dead)).toBe(true)
    expect((yield* readState).deadLetters).toEqual({ rejected: 3, exhausted: 0, poison: 2 })
    expect(yield* alerts).toContainEqual(["OutreachDeadLettersLeft", 5, true])
    const ofOne = yield* readFacts(["deadLetters"], rejected.organization.id)
    expect(ofOne.deadLetters).toEqual({ rejected: 3, exhausted: 0, poison: 0 })
    yield* sql`
      update failure_groups set opened_at = opened_at - interval '1 day' where organization_id = ${rejected.organization.id}`
    expect(yield* ageOf("OutreachDeadLettersLeft")).toBeGreaterThan(86_400)
    expect(yield* ageOf("OutreachDeadLettersLeft", poison.organization.id)).toBeLessThan(86_400)

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
    const { messagesDue, messagesOldestSeconds } = yield* readDue
    expect(messagesDue).toBe(3)
    expect(messagesOldestSeconds).toBeGreaterThanOrEqual(50)
  })

  test("measures the delay of an e-mail since the first time it could be sent", function* () {
    yield* sql`update campaigns set status = 'cancelled'`
    const { campaign, organization } = yield* seedCampaign({ recipients: 2 })
    const { id } = campaign
    yield* sql`update campaigns set window_start = clock_timestamp() - interval '22 days' where id = ${id}`
    yield* sendCampaign(id)
    const late = Effect.map(readDue, ({ messagesOldestSeconds }) => messagesOldestSeconds)
    /** Moves all times an hour back. */
    const anHourLater = sql`update campaigns set updated_at = updated_at - interval '1 hour' where id = ${id}`
    const SOON = 1800

    expect((yield* readDue).messagesDue).toBe(2)
    expect(yield* late).toBeLessThan(SOON)
    yield* anHourLater
    yield* sql`update messages set due_at = due_at - interval '1 hour' where campaign_id = ${id}`
    expect(yield* late).toBeGreaterThan(SOON)

    yield* commandCampaign(id, "pause")
    yield* anHourLater
    yield* sendCampaign(id)
    expect(yield* late).toBeLessThan(SOON)
    yield* anHourLater

    const pace = (next: string) => sql`
      insert into send_rates (scope, next_at) values (${`campaign ${id}`}, clock_timestamp() + ${next}::interval)
      on conflict (scope) do update set next_at = excluded.next_at`
    yield* pace("1 second")
    expect(yield* late).toBeGreaterThan(SOON)
    yield* sql`update campaigns set per_minute = 1 where id = ${id}`
    expect(yield* late).toBe(0)
    yield* pace("-40 minutes")
    expect(yield* late).toBeGreaterThan(SOON)
    expect(yield* late).toBeLessThan(3600)

    yield* sql`update campaigns set per_minute = null, updated_at = updated_at - interval '3 days' where id = ${id}`
    yield* sql`update messages set due_at = due_at - interval '3 days' where campaign_id = ${id}`
    expect(yield* late).toBeGreaterThan(86_400)
    yield* sql`
      insert into senders (organization_id, id, from_name, from_address, dkim_domain, ramp)
      values (${organization.id}, 'snd_x', 'Acme', 'outreach@acme.test', 'acme.test', '{1}')`
    expect(yield* late).toBeLessThanOrEqual(86_400)
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
    const due = yield* readDue
    expect([due.hitsWaiting, due.unsubscriptionsWaiting]).toEqual([3, 3])
    expect(due.hitsOldestSeconds).toBeGreaterThanOrEqual(70)
    expect(due.unsubscriptionsOldestSeconds).toBeGreaterThanOrEqual(5)
    expect(due.unsubscriptionsOldestSeconds).toBeLessThan(70)
  })

  test("counts pending and quarantined inbound events", function* () {
    const seeded = yield* seedCampaign({ recipients: 0 })
    for (const id of ["evt_1", "evt_2", "evt_3", "evt_4"]) yield* receiveEvent(seeded, id, "clinician.moved", {})
    yield* sql`update inbox set received_at = clock_timestamp() - interval '70 seconds'`
    yield* sql`update inbox set quarantined_at = clock_timestamp(), reason = 'no reason' where event_id = 'evt_1'`
    yield* sql`update inbox set applied_at = clock_timestamp() where event_id = 'evt_2'`
    const { inboxWaiting, inboxOldestSeconds } = yield* readDue
    expect(inboxWaiting).toBe(2)
    expect(inboxOldestSeconds).toBeGreaterThanOrEqual(70)
    expect((yield* readState).inboxQuarantined).toBe(1)
  })

  test("shows the age of an open transaction", function* () {
    // Other tests share the server, so this waits until their transactions end.
    const isShort = Effect.map(readState, ({ horizonTransactions }) => horizonTransactions.session < 50)
    yield* Effect.repeat(isShort, { until: (short) => short, schedule: Schedule.spaced("50 millis") })
    const during = yield* whileOpen(
      Effect.andThen(sql`set transaction isolation level repeatable read`, sql`select count(*) from organizations`),
      () =>
        Effect.gen(function* () {
          yield* Effect.forEach(Array.from({ length: 60 }), () => sql`select pg_current_xact_id()::text`)
          return yield* readState
        }),
    )
    expect(during.horizonTransactions.session).toBeGreaterThanOrEqual(60)
    expect(during.horizonSeconds.session).toBeGreaterThan(0)
  })
})
