import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http"
import { beforeAll, describe, expect, it } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createIdentifier, type EndpointId } from "@outreach/domain/Identifier"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { verify } from "@outreach/signature/node"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Clock, Effect, Layer, Record, Redacted, References, Schedule } from "effect"
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

/** Outcomes of attempts by response. Tests of `classifyResponse` and `HttpWebhookClient` have all kinds. */
const RESPONSES = {
  "503": { status: 503, outcome: "server_error" },
  "302": { status: 302, outcome: "redirect" },
  none: { status: null, outcome: "refused" },
} as const
type Response = keyof typeof RESPONSES

/** Publishes one event to partners. Returns the time, and the endpoints by response. */
const publishTo = Effect.fnUntraced(function* (urls: Readonly<Record<Response, string>>) {
  const { campaign, organization, endpoint, secret } = yield* seedCampaign({ recipients: 0, endpointUrl: urls["503"] })
  const endpoints = { "503": endpoint.id } as Record<Response, EndpointId>
  for (const response of ["302", "none"] as const) {
    const id = yield* createIdentifier("endpoint")
    const url = PrivateEndpointUrl.make(urls[response])
    yield* EndpointRepository.use(({ create }) =>
      create({ organizationId: organization.id, id, url, eventTypes: null }),
    )
    endpoints[response] = id
  }
  const publishedAt = yield* moveClock(60)
  yield* publishSent(campaign, 1)
  return { endpoints, publishedAt, secret }
})

interface Waiting {
  readonly attempts: number
  /** Seconds from now; null while it is being sent. */
  readonly wait: number | null
}

/** Waits until the delivery rows meet a condition. Returns them. */
const queued = Effect.fnUntraced(function* (satisfies: (rows: ReadonlyArray<Waiting>) => boolean) {
  return yield* sql<Waiting>`
    select attempts, case when owner is null then extract(epoch from due_at - clock_timestamp())::double precision end as wait
    from deliveries`.pipe(Effect.repeat({ until: satisfies, schedule: Schedule.spaced("20 millis") }))
})

/** Waits until every log is completely read, and its deliveries have a row or are settled. */
const logsAreRead = Effect.gen(function* () {
  yield* sql<{ left: boolean }>`
    select exists (
      select from endpoint_readers reader join reader_positions using (endpoint_id) join events on events.organization_id = reader.organization_id
      where cardinality(open) > 0 or (emitted_at, events.id) > (begun_at, begun_id)) as left`.pipe(
    Effect.repeat({ until: ([row]) => !row!.left, schedule: Schedule.spaced("20 millis") }),
  )
})

const nothingLeft = Effect.andThen(
  logsAreRead,
  queued((rows) => rows.length === 0),
)

/** Takes all due rows on behalf of the worker that owns them. */
const takeDue = Effect.gen(function* () {
  const leases = yield* DeliveryLeases
  const owned = yield* sql<{ owner: string; endpointId: EndpointId }>`
    select owner::text, endpoint_id as "endpointId" from endpoint_readers where owner is not null`
  const wanted = owned.map(({ endpointId }) => ({ endpointId, limit: 100 }))
  return yield* leases.takeDue(owned[0]!.owner, wanted)
})

/** Returns the end of the delivery to an endpoint: state, outcomes, and the start of each attempt in seconds since publication, in steps of ten. */
const endOf = Effect.fnUntraced(function* (endpointId: EndpointId, publishedAt: Timestamp) {
  const [delivery] = yield* deliveriesTo(endpointId)
  return {
    state: delivery!.state,
    outcomes: delivery!.made.map(({ outcome }) => outcome),
    statuses: delivery!.made.map(({ status }) => status),
    // Calls take real time, seconds on a busy machine. All delays are multiples of ten seconds.
    at: delivery!.made.map(
      ({ startedAt }) => Math.floor((toUnixMillis(startedAt) - toUnixMillis(publishedAt)) / 10_000) * 10,
    ),
  }
})

const serve = async (listener: RequestListener) => `http://127.0.0.1:${await listen(createServer(listener))}/`

/** 0 s, 30 s, 2.5 min, 12.5 min, 72.5 min, 7.2 h, 31.2 h. */
const ATTEMPTS_AT = [0, 30, 150, 750, 4350, 25_950, 112_350]

describe("a delivery that fails for now", () => {
  it("is tried after 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, not a moment sooner, and is exhausted after 31.2 h", async () => {
    const calls: Array<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }> = []
    const urls = {
      "503": await serve(async (request, response) => {
        calls.push({ headers: request.headers, body: Buffer.concat(await request.toArray()) })
        response.writeHead(503, { "Retry-After": "1" }).end()
      }),
      "302": await serve((_, response) => response.writeHead(302).end()),
      none: `http://${CLOSED_ADDRESS}/`,
    }
    const { found, publishedAt, secret } = await besideWorker(
      Effect.gen(function* () {
        const { endpoints, ...published } = yield* publishTo(urls)
        const all = Object.values(endpoints)
        for (const [i, delay] of SPECIFIED_SCHEDULE.delays.map((milliseconds) => milliseconds / 1000).entries()) {
          const waiting = yield* queued(
            (rows) => rows.length === all.length && rows.every(({ attempts, wait }) => attempts > i && wait !== null),
          )
          expect(waiting).toEqual(all.map(() => ({ attempts: i + 1, wait: delay })))
          yield* moveClock(delay - 0.001)
          expect(yield* takeDue).toEqual([])
          yield* moveClock(0.001)
        }
        yield* nothingLeft
        const found = yield* Effect.all(Record.map(endpoints, (id) => endOf(id, published.publishedAt)))
        return { found, ...published }
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
    expect(found).toEqual(
      Record.map(RESPONSES, ({ status, outcome }) => ({
        state: "exhausted",
        outcomes: Array(7).fill(outcome),
        statuses: Array(7).fill(status),
        at: ATTEMPTS_AT,
      })),
    )
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
