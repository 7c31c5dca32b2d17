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
import { publishSent } from "@outreach/testing/publishTogether"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Clock, Effect, Layer, Redacted, References, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { deliver } from "../../src/deliveries/deliver.ts"
import { endless, noAnswer, status } from "../answers.ts"

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

/** Publishes one event to partners with different responses. Returns the time, and the endpoints by partner name. */
const publishTo = Effect.fnUntraced(function* (partners: Readonly<Record<string, string>>) {
  const [[firstName, firstUrl], ...others] = Object.entries(partners) as [[string, string], ...[string, string][]]
  const { campaign, organization, endpoint, secret } = yield* seedCampaign({ recipients: 0, endpointUrl: firstUrl })
  const repository = yield* EndpointRepository
  const endpoints = new Map<EndpointId, string>([[endpoint.id, firstName]])
  for (const [name, address] of others) {
    const url = PrivateEndpointUrl.make(address)
    const id = yield* createIdentifier("endpoint")
    yield* repository.create({ organizationId: organization.id, id, url, eventTypes: null })
    endpoints.set(id, name)
  }
  const publishedAt = yield* moveClock(60)
  const [eventId] = yield* publishSent(campaign, 1)
  return { endpoints, eventId, publishedAt, secret }
})

interface Waiting {
  readonly attempts: number
  /** Seconds from now; null while it is being sent. */
  readonly wait: number | null
}

/** Waits until the delivery rows meet a condition. Returns them. */
const queued = Effect.fnUntraced(function* (satisfies: (rows: ReadonlyArray<Waiting>) => boolean) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Waiting>`
    select attempts, case when owner is null then extract(epoch from due_at - clock_timestamp())::double precision end as wait
    from deliveries`.pipe(Effect.repeat({ until: satisfies, schedule: Schedule.spaced("20 millis") }))
})

/** Waits until every log is completely read, and its deliveries have a row or are settled. */
const logsAreRead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
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
  const sql = yield* SqlClient.SqlClient
  const leases = yield* DeliveryLeases
  const owned = yield* sql<{ owner: string; endpointId: EndpointId }>`
    select owner::text, endpoint_id as "endpointId" from endpoint_readers where owner is not null`
  const wanted = owned.map(({ endpointId }) => ({ endpointId, limit: 100 }))
  return yield* leases.takeDue(owned[0]!.owner, wanted)
})

/** Lists the end of each delivery by partner name: state, reason, and the start of each attempt in seconds since publication, in steps of ten. */
const ends = Effect.fnUntraced(function* (published: Effect.Success<ReturnType<typeof publishTo>>) {
  const found: Record<string, { state: string; outcomes: string[]; statuses: Array<number | null>; at: number[] }> = {}
  for (const [endpointId, name] of published.endpoints) {
    const delivery = (yield* deliveriesTo(endpointId)).find(({ eventId }) => eventId === published.eventId)
    found[name] = {
      state: delivery!.state,
      outcomes: delivery!.made.map(({ outcome }) => outcome),
      statuses: delivery!.made.map(({ status }) => status),
      // Name resolution uses the real clock, and takes seconds on a busy machine. All delays are multiples of ten seconds.
      at: delivery!.made.map(
        ({ startedAt }) => Math.floor((toUnixMillis(startedAt) - toUnixMillis(published.publishedAt)) / 10_000) * 10,
      ),
    }
  }
  return found
})

/** Starts a partner for each status. */
const statuses = async (...codes: number[]) =>
  Object.fromEntries(await Promise.all(codes.map(async (code) => [String(code), await status(code)])))

/** 0 s, 30 s, 2.5 min, 12.5 min, 72.5 min, 7.2 h, 31.2 h. */
const ATTEMPTS_AT = [0, 30, 150, 750, 4350, 25_950, 112_350]

describe("a delivery that fails for now", () => {
  const redirects = [300, 301, 302, 303, 304, 307, 308]
  const serverErrors = [500, 501, 502, 503, 504, 599]

  it("is tried after 30 s, 2 min, 10 min, 1 h, 6 h and 24 h, not a moment sooner, and is exhausted after 31.2 h", async () => {
    const calls: Array<{
      readonly attempt: unknown
      readonly id: unknown
      readonly header: string
      readonly body: Buffer
    }> = []
    const partners: Record<string, string> = {
      ...(await statuses(...redirects, ...serverErrors, 600)),
      "503, retry after 1 s": await status(503, { "Retry-After": "1" }, async (request) => {
        const { "x-delivery-attempt": attempt, "x-delivery-id": id, "x-signature": header } = request.headers
        calls.push({ attempt, id, header: String(header), body: Buffer.concat(await request.toArray()) })
      }),
      "500, without end": await endless(500),
    }
    for (const [name, partner] of Object.entries(noAnswer)) partners[name] = await partner()

    const { found, publishedAt, secret } = await besideWorker(
      Effect.gen(function* () {
        const published = yield* publishTo(partners)
        for (const [i, delay] of SPECIFIED_SCHEDULE.delays.map((milliseconds) => milliseconds / 1000).entries()) {
          const waiting = yield* queued(
            (rows) =>
              rows.length === published.endpoints.size &&
              rows.every(({ attempts, wait }) => attempts > i && wait !== null),
          )
          expect(waiting).toEqual(Object.keys(partners).map(() => ({ attempts: i + 1, wait: delay })))
          yield* moveClock(delay - 0.001)
          expect(yield* takeDue).toEqual([])
          yield* moveClock(0.001)
        }
        yield* nothingLeft
        return { found: yield* ends(published), ...published }
      }),
    )
    expect(calls.map(({ attempt }) => attempt)).toEqual(["1", "2", "3", "4", "5", "6", "7"])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(1)
    // Each is signed for its own second, and doesn't verify for another attempt's.
    const timestamps = calls.map(({ header, body }, i) => {
      const now = toUnixMillis(publishedAt) / 1000 + ATTEMPTS_AT[i]!
      return verify(header, body, [Redacted.value(secret)], { now, tolerance: 1 }).timestamp
    })
    expect(timestamps.map((at) => at - toUnixMillis(publishedAt) / 1000)).toEqual(ATTEMPTS_AT)
    expect(new Set(calls.map(({ header }) => header)).size).toBe(7)
    const reasons: Record<string, string> = {
      ...Object.fromEntries(redirects.map((code) => [code, "redirect"])),
      ...Object.fromEntries(serverErrors.map((code) => [code, "server_error"])),
      "600": "invalid_status",
      "503, retry after 1 s": "server_error",
      "500, without end": "server_error",
      ...Object.fromEntries(Object.keys(noAnswer).map((name) => [name, name])),
    }
    expect(found).toEqual(
      Object.fromEntries(
        Object.keys(partners).map((name) => [
          name,
          {
            state: "exhausted",
            outcomes: Array(7).fill(reasons[name]),
            statuses: Array(7).fill(name in noAnswer ? null : Number.parseInt(name, 10)),
            at: ATTEMPTS_AT,
          },
        ]),
      ),
    )
  })
})

/**
 * Gives a database a clock that stops until it is moved: in all new connections, `clock_timestamp()` of
 * statements and functions returns it. It starts far in the future, because timestamps must not be older than those of the real clock.
 */
const simulateClock = (databaseUrl: string): Promise<void> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
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
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ at: Timestamp }>`
    update simulated.clock set at = at + make_interval(secs => ${seconds}::double precision) returning at`
  simulatedMs = toUnixMillis(rows[0]!.at)
  yield* sql`select pg_notify('hints', 'due')`
  return rows[0]!.at
})
