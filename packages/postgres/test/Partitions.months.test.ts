import { describe, expect } from "@effect/vitest"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { FEED_EVENT_TYPES } from "@outreach/contract"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { createLogReplay, ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { lowestIdentifierAt } from "@outreach/domain/Identifier"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Timestamp } from "@outreach/domain/Timestamp"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { type PartitionedTable, Partitions } from "@outreach/postgres/Partitions"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { column, inTransaction, sql, untilBlocked, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Fiber } from "effect"
import { simulatedClock } from "./simulatedClock.ts"

const url = migratedDatabase()
const setClock = simulatedClock(url)
const { run, test } = testsOnDatabase({ url })

const add = (table: PartitionedTable) => Effect.flatMap(Partitions, (partitions) => partitions.add(table))
/** Drops all expired partitions, one run per day like the workers. */
const drop = Effect.fnUntraced(function* (table: PartitionedTable, keep: number) {
  const partitions = yield* Partitions
  let all = 0
  while (true) {
    yield* sql`update retention_limits set dropped_on = null`
    const { dropped, reason } = yield* partitions.drop(table, keep)
    all += dropped
    if (dropped === 0) return { dropped: all, reason }
  }
})
const partitionsOf = (table: PartitionedTable) =>
  column<string>`
    select replace(relname::text, ${`${table}_`}, '') as name from pg_inherits join pg_class on oid = inhrelid
    where inhparent = ${table}::regclass order by pg_get_expr(relpartbound, oid) ~ 'MINVALUE' desc, relname`
const eventsIn = (partition: string) =>
  column<string>`select id from events where tableoid = ${`events_${partition}`}::regclass order by id`
/** Makes the endpoints of earlier tests need no events. */
const forgetEndpoints = Effect.gen(function* () {
  yield* sql`update webhook_endpoints set enabled = false`
  yield* sql`update reader_positions set open = '{}'`
  for (const table of ["deliveries", "dead_letters"]) yield* sql`delete from ${sql(table)}`
})
const start = Timestamp.make("1970-01-01T00:00:00.000000Z")

// Each test continues in the months of the previous test.
describe("the monthly partitions", { shuffle: false }, () => {
  describe("the months of events", () => {
    test("are added two months ahead and include earlier rows, independent of the clock", function* () {
      const { campaign } = yield* seedCampaign({ recipients: 0 })
      yield* setClock("2050-01-31T23:59:00Z")
      const [january] = yield* publishSent(campaign, 1)
      yield* setClock("2050-03-01T00:00:00Z")
      const [march] = yield* publishSent(campaign, 1)
      // The worker's first run. Its clock is behind the published events.
      yield* setClock("2050-01-31T23:59:30Z")
      expect(yield* add("events")).toBe(4)
      expect(yield* partitionsOf("events")).toEqual(["earlier", "2050_01", "2050_02", "2050_03", "later"])
      expect(yield* eventsIn("2050_01")).toEqual([january])
      expect(yield* eventsIn("2050_03")).toEqual([march])
      expect(yield* add("events")).toBe(0)

      yield* setClock("2050-02-01T00:00:00Z")
      expect(yield* add("events")).toBe(1)
      // A clock jump, forward or back, doesn't lose partitions.
      yield* setClock("2099-01-01T00:00:00Z")
      const [ahead] = yield* publishSent(campaign, 1)
      yield* setClock("1999-01-01T00:00:00Z")
      const other = yield* seedCampaign({ recipients: 0 })
      const [back] = yield* publishSent(other.campaign, 1)
      expect(yield* eventsIn("later")).toEqual([ahead])
      expect(yield* eventsIn("earlier")).toEqual([back])
      expect(yield* add("events")).toBe(0)
      // The workers were down for half a year.
      yield* setClock("2050-08-15T00:00:00Z")
      const kept = yield* Effect.replicateEffect(add("events"), 4, { concurrency: 4 })
      expect(Math.max(...kept)).toBe(6)
      expect(kept.reduce((sum, count) => sum + count, 0)).toBe(6)
      expect((yield* partitionsOf("events")).slice(-3)).toEqual(["2050_09", "2050_10", "later"])
      expect(yield* eventsIn("later")).toEqual([ahead])
    })

    test("are added later if the table is locked for long, and only block its user briefly", function* () {
      yield* setClock("2050-09-01T00:00:00Z")
      const failure = yield* whileOpen(sql`select count(*) from events`, () =>
        Effect.flip(Effect.sandbox(add("events"))),
      )
      expect(String(failure)).toContain("55P03")
      expect(yield* add("events")).toBe(1)
    })

    test("are dropped as a whole when endpoints, deliveries, dead letters and replays no longer need them", function* () {
      yield* forgetEndpoints
      yield* setClock("2050-10-10T00:00:00Z")
      const { campaign, endpoint, organization } = yield* seedCampaign({ recipients: 0 })
      const old = yield* publishSent(campaign, 3)
      yield* setClock("2050-12-10T00:00:00Z")
      yield* add("events")
      const dropOld = drop("events", 1)
      // The earlier months are dropped.
      expect((yield* dropOld).reason).toBe(`endpoint ${endpoint.id} has not read them all`)

      const worker = yield* workerOn()
      const deliveries = yield* worker.take()
      expect(yield* dropOld).toEqual({ dropped: 0, reason: `endpoint ${endpoint.id} has not settled them all` })
      yield* worker.settle(deliveries.slice(0, 1))
      yield* worker.settle(deliveries.slice(1, 2), { settlement: "rejected" }, 410)
      yield* worker.settle(deliveries.slice(2), { settlement: "retry", delay: 0 }, 503)
      expect(yield* dropOld).toEqual({ dropped: 0, reason: `delivery ${deliveries[2]!.id} waits` })

      const recent = yield* publishSent(campaign, 1)
      const [retried] = (yield* worker.take()).filter(({ isRow }) => isRow)
      yield* worker.settle([retried!])
      const deadLetter = { dropped: 0, reason: `dead letter ${deliveries[1]!.id} is neither replayed nor removed` }
      expect(yield* dropOld).toEqual(deadLetter)
      yield* (yield* DeliveryRepository).replay(deliveries[1]!.id)
      expect((yield* dropOld).reason).toMatch(/^delivery dlv_[0-9a-f]{32} waits$/)
      yield* worker.settle((yield* worker.take()).filter(({ isReplay }) => isReplay))

      const replays = yield* ReplayJobQueue
      const job = yield* createLogReplay(
        { endpointId: endpoint.id, from: start, to: Timestamp.make("2051-01-01T00:00:00.000000Z") },
        1,
      )
      expect(yield* dropOld).toEqual({ dropped: 0, reason: `replay ${job.id} reads them` })
      yield* replays.cancel(job.id)

      // An open transaction is writing, so the month is dropped later.
      const [open] = yield* whileOpen(publishSent(campaign, 1), (ids) =>
        Effect.map(Effect.exit(dropOld), (exit) => [exit._tag, ids] as const),
      )
      expect(open).toBe("Failure")
      expect((yield* dropOld).reason).toBe(null)
      expect(yield* partitionsOf("events")).toEqual(["earlier", "2050_11", "2050_12", "2051_01", "2051_02", "later"])
      expect(yield* dropOld).toEqual({ dropped: 0, reason: null })

      // Readers of an earlier time receive the events that are left.
      expect(yield* (yield* Partitions).eventsKeptFrom).toBe("2050-11-01T00:00:00.000000Z")
      const { rows: page } = yield* (yield* EventFeed).page(organization.id, FEED_EVENT_TYPES, feedFrom(start), 100)
      expect(page.map(({ id }) => id).slice(0, 1)).toEqual(recent)
      const range = { endpointId: endpoint.id, from: start, to: Timestamp.make("2051-01-01T00:00:00.000000Z") }
      expect(yield* (yield* ReplayReader).countInLog(range)).toBe(page.length)
      const late = yield* (yield* EndpointRepository).create({
        organizationId: organization.id,
        id: lowestIdentifierAt("endpoint", 0),
        url: EndpointUrl.make("https://partner.test/webhooks"),
        eventTypes: null,
        since: start,
      })
      const read = (yield* worker.take()).filter(({ endpointId }) => endpointId === late.id)
      expect(read.map(({ eventId }) => eventId)).toEqual(page.map(({ id }) => id))
      // The history is kept longer than its events.
      const repository = yield* DeliveryReader
      const { delivery, attempts } = yield* repository.find(deliveries[0]!.id)
      expect(delivery).toMatchObject({ eventId: old[0], eventType: null, state: "delivered" })
      expect(delivery.createdAt).toBe(delivery.finishedAt)
      expect(attempts).toMatchObject([{ status: 200 }])
      const { rows: listed } = yield* repository.list({ endpointId: endpoint.id, state: "delivered" }, 100)
      expect(listed.filter(({ eventType }) => eventType === null).length).toBeGreaterThan(1)
    })

    test("are dropped even if there is a disabled endpoint", function* () {
      yield* forgetEndpoints
      yield* setClock("2051-03-10T00:00:00Z")
      const { campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
      yield* publishSent(campaign, 1)
      yield* setClock("2051-05-10T00:00:00Z")
      yield* add("events")
      expect((yield* drop("events", 1)).reason).toContain("has not read")
      yield* (yield* EndpointRepository).disable(endpoint.id)
      expect((yield* drop("events", 1)).dropped).toBeGreaterThan(0)
      expect(yield* sql`select from events where organization_id = ${campaign.organizationId}`).toEqual([])
    })
  })

  test("the months of the inbox are dropped when all their events are applied, and their events can't be stored again", function* () {
    yield* setClock("2050-01-10T00:00:00Z")
    const seed = yield* seedCampaign({ recipients: 0 })
    const receive = receiveEvent(seed, "evt_old", "clinician.account_created", { npi: "1234567893" })
    expect(yield* receive).toBe("stored")
    yield* add("inbox")
    yield* setClock("2050-03-10T00:00:00Z")
    yield* add("inbox")
    expect(yield* drop("inbox", 1)).toEqual({
      dropped: 0,
      reason: `event evt_old of ${seed.organization.id} waits to be applied`,
    })
    yield* applyBatches
    expect(yield* drop("inbox", 1)).toEqual({ dropped: 2, reason: null })
    expect(yield* partitionsOf("inbox")).toEqual(["earlier", "2050_02", "2050_03", "2050_04", "2050_05", "later"])
    expect(yield* receive).toBe("repeated")
    const inbox = yield* InboxRepository
    expect(yield* inbox.readWaiting(seed.organization.id, 10)).toEqual([])
    const failure = yield* Effect.flip(inbox.find(seed.organization.id, "evt_old"))
    expect(failure.message).toMatch(
      /^The event evt_old of org_[0-9a-f]{32} was received at 2050-01-10T00:00:.*no longer stored/,
    )
  })

  test("the months of hits are dropped when the retention period after the last classification of a hit is over", function* () {
    yield* setClock("2050-01-10T00:00:00Z")
    const { organization } = yield* seedCampaign({ recipients: 1 })
    const hit = (at: string, judgedAt: string | null) => sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
    select ${organization.id}, ${lowestIdentifierAt("hit", Date.parse(at))}, id, 'open', 'GET', '198.51.100.7', '{}',
      ${at}::timestamptz, ${judgedAt}::timestamptz, case when ${judgedAt}::text is not null then '{}'::text[] end
    from recipients where organization_id = ${organization.id}`
    yield* hit("2050-01-05T00:00:00Z", "2050-01-05T00:01:00Z")
    yield* hit("2050-01-31T00:00:00Z", "2050-02-01T00:00:00Z")
    yield* hit("2050-02-05T00:00:00Z", null)
    yield* add("hits")
    const left = sql`select id from hits`
    yield* setClock("2050-05-01T00:00:00Z")
    expect(yield* drop("hits", 90)).toEqual({ dropped: 0, reason: null })
    // One hour more than 90 days after the last hit of January was classified.
    yield* setClock("2050-05-02T01:00:00Z")
    yield* add("hits")
    expect(yield* drop("hits", 90)).toEqual({ dropped: 2, reason: null })
    expect(yield* left).toEqual([{ id: lowestIdentifierAt("hit", Date.parse("2050-02-05T00:00:00Z")) }])
    yield* sql`update hits set judged_at = '2050-02-06', reasons = '{}'`
    yield* setClock("2050-05-08T00:00:00Z")
    yield* drop("hits", 90)
    expect(yield* left).toEqual([])
    expect((yield* partitionsOf("hits")).slice(0, 2)).toEqual(["earlier", "2050_05"])
  })

  for (const [table, referred] of [
    ["hits", "recipients"],
    ["inbox", "webhook_endpoints"],
  ] as const) {
    test(`added months to ${table} don't abort transactions that write to ${referred} after reading them`, function* () {
      yield* seedCampaign({ recipients: 1 })
      yield* setClock("2060-01-31T12:00:00Z")
      yield* sql`alter function keep_partitions(text, integer) set lock_timeout = '100s'`
      const adding = yield* inTransaction(
        Effect.gen(function* () {
          yield* sql`set local idle_in_transaction_session_timeout = 0`
          yield* sql`select from ${sql(referred)}`
          const adding = yield* Effect.forkDetach(Effect.promise(() => run(add(table))))
          yield* untilBlocked()
          yield* sql`update ${sql(referred)} set id = id`
          return adding
        }),
      )
      expect(yield* Fiber.join(adding)).toBeGreaterThan(0)
      yield* sql`alter function keep_partitions(text, integer) set lock_timeout = '200ms'`
    })
  }
})
