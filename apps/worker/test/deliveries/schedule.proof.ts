import { createServer, type IncomingHttpHeaders } from "node:http"
import { beforeAll, describe, expect, it } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import type { EndpointId } from "@outreach/domain/Identifier"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { verify } from "@outreach/signature/node"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Clock, Effect, Layer, Redacted, References, Schedule } from "effect"
import { deliver } from "../../src/deliveries/deliver.ts"

const url = migratedDatabase()
beforeAll(() => simulateClock(url()))

const bounds = { maxInFlight: 256, perEndpoint: 16, callSeconds: 15, leaseSeconds: 30 }

/**
 * Real: PostgreSQL and all statements, the worker, its HTTP calls, and signatures. Simulated: the wall clock of the database and the
 * worker, used for due times, leases and signature timestamps. Timeouts and the worker's waits use the real monotonic clock.
 */

/** Simulated time in Unix milliseconds. */
let simulatedMs = Date.UTC(2100, 0, 1)

/** Runs a worker with the database's clock: if they differed, it would deliver nothing. */
const onSimulatedTime = Effect.provideServiceEffect(
  Clock.Clock,
  Effect.map(
    Clock.Clock,
    (clock): Clock.Clock =>
      Object.setPrototypeOf(
        { currentTimeMillisUnsafe: () => simulatedMs, currentTimeMillis: Effect.sync(() => simulatedMs) },
        clock,
      ),
  ),
)

/** Runs an effect next to a worker on a database with a simulated clock. */
const besideWorker = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>): Promise<A> =>
  Effect.raceFirst(effect, onSimulatedTime(deliver({ schedule: SPECIFIED_SCHEDULE, drainSeconds: 0, ...bounds }))).pipe(
    Effect.provide(
      Layer.mergeAll(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 15_000 }), NodeSigner).pipe(
        Layer.provideMerge(adaptersFor(url())),
      ),
    ),
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.runPromise,
  )

/** Publishes one event to a partner. Returns the time. */
const publishTo = Effect.fnUntraced(function* (endpointUrl: string) {
  const { campaign, endpoint, secret } = yield* seedCampaign({ recipients: 0, endpointUrl })
  const publishedAt = yield* moveClock(60)
  yield* publishSent(campaign, 1)
  return { endpointId: endpoint.id, publishedAt, secret }
})

/** Waits until the delivery waits for its next attempt, or is settled. Returns its attempts and the seconds from now. */
const queued = Effect.fnUntraced(function* (attempts: number | null) {
  return yield* sql<{ attempts: number; wait: number | null }>`
    select attempts, case when owner is null then extract(epoch from due_at - clock_timestamp())::double precision end as wait
    from deliveries`.pipe(
    Effect.repeat({
      until: (rows) =>
        attempts === null ? rows.length === 0 : rows.some((row) => row.attempts === attempts && row.wait !== null),
      schedule: Schedule.spaced("20 millis"),
    }),
  )
})

/** Takes all due rows on behalf of the worker that owns them. */
const takeDue = Effect.gen(function* () {
  const leases = yield* DeliveryLeases
  const owned = yield* sql<{ owner: string; endpointId: EndpointId }>`
    select owner::text, endpoint_id as "endpointId" from endpoint_readers where owner is not null`
  const wanted = owned.map(({ endpointId }) => ({ endpointId, limit: 100 }))
  return yield* leases.takeDue(owned[0]!.owner, wanted)
})

/** 0 s, 30 s, 2.5 min, 12.5 min, 72.5 min, 7.2 h, 31.2 h. */
const ATTEMPTS_AT = [0, 30, 150, 750, 4350, 25_950, 112_350]

describe("a delivery that fails for now", () => {
  it("is tried after 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, not a moment sooner, and is exhausted after 31.2 h", async () => {
    const calls: Array<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> = []
    const receiver = createServer(async (request, response) => {
      calls.push({ headers: request.headers, body: Buffer.concat(await request.toArray()) })
      response.writeHead(503, { "Retry-After": "1" }).end()
    })
    const url = `http://127.0.0.1:${await listen(receiver)}/`
    const { delivery, publishedAt, secret } = await besideWorker(
      Effect.gen(function* () {
        const published = yield* publishTo(url)
        for (const [i, milliseconds] of SPECIFIED_SCHEDULE.delays.entries()) {
          const wait = milliseconds / 1000
          expect(yield* queued(i + 1)).toEqual([{ attempts: i + 1, wait }])
          yield* moveClock(wait - 0.001)
          expect(yield* takeDue).toEqual([])
          yield* moveClock(0.001)
        }
        yield* queued(null)
        const [delivery] = yield* deliveriesTo(published.endpointId)
        return { delivery: delivery!, ...published }
      }),
    )
    expect(calls.map(({ headers }) => headers["x-delivery-attempt"])).toEqual(["1", "2", "3", "4", "5", "6", "7"])
    expect(new Set(calls.map(({ headers }) => headers["x-delivery-id"])).size).toBe(1)
    // Each is signed for its own second, and doesn't verify for another attempt's.
    const timestamps = calls.map(({ headers, body }, i) => {
      const now = toUnixMillis(publishedAt) / 1000 + ATTEMPTS_AT[i]!
      return verify(String(headers["x-signature"]), body, [Redacted.value(secret)], { now, tolerance: 1 }).timestamp
    })
    expect(timestamps.map((at) => at - toUnixMillis(publishedAt) / 1000)).toEqual(ATTEMPTS_AT)
    expect(new Set(calls.map(({ headers }) => headers["x-signature"])).size).toBe(7)
    expect(delivery).toMatchObject({
      state: "exhausted",
      made: Array(7).fill({ outcome: "server_error", status: 503 }),
    })
    // Calls take real time, seconds on a busy machine. All delays are multiples of ten seconds.
    const secondsOf = (at: Timestamp) => (toUnixMillis(at) - toUnixMillis(publishedAt)) / 1000
    expect(delivery.made.map(({ startedAt }) => Math.floor(secondsOf(startedAt) / 10) * 10)).toEqual(ATTEMPTS_AT)
  })
})

/**
 * Gives a database a clock that stops until it is moved: in all new connections, `clock_timestamp()` of
 * statements and functions returns it. It starts far in the future, because timestamps must not be older than those of the real clock.
 */
const simulateClock = (databaseUrl: string): Promise<void> =>
  Effect.gen(function* () {
    yield* sql`create schema simulated`
    yield* sql`create table simulated.clock as select timestamptz '2100-01-01T00:00:00Z' as at`
    yield* sql`
      create function simulated.clock_timestamp() returns timestamptz language sql volatile as 'select at from simulated.clock'`
    // Listed before pg_catalog, so it is found first.
    yield* sql`
      do $$ begin
        execute format('alter database %I set search_path = simulated, pg_catalog, public', current_database());
      end $$`
  }).pipe(Effect.provide(adaptersFor(databaseUrl)), Effect.runPromise)

/** Moves the simulated clock by seconds (negative: back) and notifies the workers. Returns the new time. */
const moveClock = Effect.fnUntraced(function* (seconds: number) {
  const rows = yield* sql<{ at: Timestamp }>`
    update simulated.clock set at = at + make_interval(secs => ${seconds}::double precision) returning at`
  simulatedMs = toUnixMillis(rows[0]!.at)
  yield* sql`select pg_notify('hints', 'due')`
  return rows[0]!.at
})
