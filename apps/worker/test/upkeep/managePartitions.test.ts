import { expect } from "@effect/vitest"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Deferred, Effect, Logger, References, Schedule } from "effect"
import { beforeAll, beforeEach } from "vitest"
import { managePartitions } from "../../src/upkeep/managePartitions.ts"

const { run, test } = testsOnDatabase()
// The first worker existed when the events that the tests drop were published.
beforeAll(() => run(sql`select add_partitions('events', clock_timestamp() - interval '200 days')`))
// Each test runs on another day.
beforeEach(async () => {
  await run(sql`update retention_limits set dropped_on = null`)
})
const KEEP_ALL = { historyDays: 90, eventsMonths: null, inboxMonths: null, deadLettersDays: null }
const often = Schedule.spaced("20 millis")

test("all hits that are old enough are forgotten one batch after another, however many there are", function* () {
  const { organization } = yield* seedCampaign({ recipients: 1 })
  yield* sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
    select ${organization.id}, 'hit_' || n, recipients.id, 'open', 'GET', '198.51.100.7', '{}', at, at, '{}'
    from recipients, generate_series(1, 2001) n, lateral (
      select clock_timestamp() - case when n = 2001 then interval '89 days' else interval '91 days' end as at
    ) time
    where organization_id = ${organization.id}`
  const left = sql`select id from hits where organization_id = ${organization.id}`
  const rows = yield* Effect.raceFirst(
    Effect.repeat(left, { until: (rows) => rows.length === 1, schedule: often }),
    managePartitions(KEEP_ALL),
  )
  expect(rows).toEqual([{ id: "hit_2001" }])
})

test("dead letters are purged after their days, and months of events are dropped after theirs", function* () {
  const old = yield* seedDeadLetters(3, { daysAgo: 200 })
  const recent = yield* seedDeadLetters(2, { daysAgo: 100 })
  yield* sql`update events set emitted_at = emitted_at - interval '200 days' where id = ${old.eventId}`
  const ids = [old.eventId, recent.eventId]
  const left = sql<{ events: number; letters: number }>`
    select (select count(*)::int from events where id = any(${ids})) as events,
      (select count(*)::int from dead_letters where event_id = any(${ids})) as letters`
  const rows = yield* Effect.raceFirst(
    Effect.repeat(left, { until: ([row]) => row!.letters === 2, schedule: often }),
    managePartitions({ ...KEEP_ALL, deadLettersDays: 150 }),
  )
  // The other dead letters need the other event.
  expect(rows).toEqual([{ events: 2, letters: 2 }])
  yield* Effect.raceFirst(
    Effect.repeat(left, { until: ([row]) => row!.events === 1, schedule: often }),
    managePartitions({ ...KEEP_ALL, eventsMonths: 4 }),
  )
})

test("a month of events that an endpoint still needs is kept, and the log names the endpoint", function* () {
  const { eventId, endpoint } = yield* seedDeadLetters(0)
  yield* sql`update events set emitted_at = emitted_at - interval '200 days' where id = ${eventId}`
  yield* sql`update reader_positions set begun_at = '-infinity', begun_id = '' where endpoint_id = ${endpoint.id}`
  yield* (yield* EndpointRepository).enable(endpoint.id)
  const told = yield* Deferred.make<unknown>()
  const logger = Logger.make(({ message, fiber }) => {
    if (String(message) === "partition past its retention is still needed") {
      Deferred.doneUnsafe(told, Effect.succeed(fiber.getRef(References.CurrentLogAnnotations)))
    }
  })
  const annotations = yield* Effect.raceFirst(
    Deferred.await(told),
    managePartitions({ ...KEEP_ALL, eventsMonths: 4 }).pipe(Effect.provide(Logger.layer([logger]))),
  )
  expect(annotations).toEqual({ table: "events", reason: `endpoint ${endpoint.id} has not read them all` })
  expect(yield* sql`select from events where id = ${eventId}`).toHaveLength(1)
  // Other tests drop the same month.
  yield* (yield* EndpointRepository).disable(endpoint.id)
})
