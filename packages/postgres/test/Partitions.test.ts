import { describe, expect } from "@effect/vitest"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { Partitions } from "@outreach/postgres/Partitions"
import { migratedDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { column, sql, whileOpen } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect, Fiber } from "effect"
import { simulatedClock } from "./simulatedClock.ts"

const url = migratedDatabase()
const setClock = simulatedClock(url)
const { test } = testsOnDatabase({ url })

/** Claims the delivery of an event. */
const leased = Effect.gen(function* () {
  const leases = yield* DeliveryLeases
  const { endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* publishSent(campaign, 1)
  const { take, token } = yield* workerOn()
  yield* take(0)
  const read = yield* leases.read(token, [{ endpointId: endpoint.id, limit: 1 }])
  return read[0]!
})
/** Settles a delivery as delivered, and returns its id. */
const settle = Effect.fnUntraced(function* (delivery: Delivery) {
  expect(yield* (yield* workerOn()).settle([delivery])).toBe(true)
  return delivery.id
})
const settled = Effect.flatMap(leased, settle)
const keep = Effect.fnUntraced(function* (days: number) {
  const partitions = yield* Partitions
  const added = yield* partitions.add("delivered")
  return { added, dropped: (yield* partitions.drop("delivered", days)).dropped }
})
const days = column<string>`
  select replace(substr(relname, 11), '_', '-') from pg_inherits join pg_class on oid = inhrelid
  where inhparent = 'delivered'::regclass and relname <> 'delivered_default' order by relname`
const unsorted = Effect.gen(function* () {
  return (yield* sql`select from delivered_default`).length
})
// Far in the future, so that defaults from the real clock are in the past.
const day = (n: number): string => new Date(Date.UTC(2050, 0, 10 + n)).toISOString().slice(0, 10)
const span = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => day(from + i))

const LAST_DAY = 4

// The tests share a simulated clock and its partitions, so they run in order.
describe("the days of delivered", { shuffle: false }, () => {
  test("moves earlier rows to a new partition", function* () {
    yield* setClock(`${day(-2)}T00:00:00Z`)
    const early = yield* settled
    yield* setClock(`${day(0)}T23:59:00Z`)
    const late = yield* settled
    expect(yield* unsorted).toBe(2)
    expect(yield* keep(90)).toEqual({ added: 9, dropped: 0 })
    expect(yield* unsorted).toBe(0)
    expect(yield* days).toEqual([day(-2), ...span(0, 7)])
    const deliveries = yield* DeliveryReader
    for (const id of [early, late]) expect(yield* deliveries.find(id)).toMatchObject({ attempts: [{ status: 200 }] })
  })

  test("keeps a week ahead and a number of past days, with concurrent and repeated calls", function* () {
    const deliveries = yield* DeliveryReader
    const delivered: Array<Effect.Success<typeof settled>> = []
    for (let today = 0; today <= LAST_DAY; today++) {
      yield* setClock(`${day(today)}T00:00:00Z`)
      delivered.push(yield* settled)
      const kept = yield* Effect.replicateEffect(keep(3), 4, { concurrency: 4 })
      // The first dropped day is from the previous test.
      expect(kept.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(today === 2 || today > 3 ? 1 : 0)
      yield* keep(3)
      expect(yield* days).toEqual([...(today < 2 ? [day(-2)] : []), ...span(Math.max(0, today - 3), today + 7)])
      yield* setClock(`${day(today)}T23:59:00Z`)
      delivered.push(yield* settled)
      expect(yield* unsorted).toBe(0)
      for (const id of delivered.slice(-8)) expect((yield* deliveries.find(id)).delivery.state).toBe("delivered")
      for (const id of delivered.slice(0, -8))
        expect((yield* Effect.flip(deliveries.find(id)))._tag).toBe("DeliveryNotFound")
    }
    expect(yield* keep(3)).toEqual({ added: 0, dropped: 0 })
  })

  test("gives up quickly while the history is being read, and drops the day later", function* () {
    const reading = sql`select count(*) from delivered`
    yield* setClock(`${day(LAST_DAY + 1)}T12:00:00Z`)
    const failure = yield* whileOpen(reading, () =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(Effect.sandbox(keep(3)))
        yield* settled
        return failure
      }),
    )
    expect(String(failure)).toContain("Partitions.add failed in the database: 55P03")
    expect(yield* keep(3)).toEqual({ added: 1, dropped: 1 })
    expect(yield* days).toEqual(span(LAST_DAY - 2, LAST_DAY + 8))
  })

  test("doesn't fail settlements while a partition is added", function* () {
    yield* setClock(`${day(100)}T12:00:00Z`)
    const lease = yield* leased
    const waiting = (count: number) =>
      sql`select from pg_locks where not granted and mode <> 'ExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())`.pipe(
        Effect.delay("5 millis"),
        Effect.repeat({ until: (rows) => rows.length >= count }),
        Effect.timeoutOption("2 seconds"),
      )
    // An open read delays the new partition, so that a settlement runs at the same time. If it blocks for too long, the partition is added later.
    const [keeping, settling] = yield* whileOpen(sql`select from delivered_default`, () =>
      Effect.gen(function* () {
        const keeping = yield* Effect.forkDetach(
          Effect.catchCause(keep(3650), Effect.fail).pipe(Effect.retry({ times: 100 })),
        )
        yield* waiting(1)
        const settling = yield* Effect.forkDetach(settle(lease))
        yield* waiting(2)
        return [keeping, settling] as const
      }),
    )
    expect(yield* Fiber.join(keeping)).toMatchObject({ added: 8 })
    expect((yield* (yield* DeliveryReader).find(yield* Fiber.join(settling))).delivery.state).toBe("delivered")
    expect(yield* unsorted).toBe(0)
  })
})
