import type { OrganizationId } from "@outreach/domain/Identifier"
import { createOrganization } from "@outreach/domain/organizations/Organizations"
import { Transaction } from "@outreach/domain/Transaction"
import { postgresUrl } from "@outreach/embedded-postgres/testDatabase"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { propertyRuns } from "@outreach/testing/propertyRuns"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { inTransaction, sql, untilBlocked, value, whileOpen } from "@outreach/testing/sql"
import { Clock, Effect, Fiber, Layer } from "effect"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"

const { run, test } = testsOnDatabase()

const organization = createOrganization("Acme")

describe("commitTimestamp", () => {
  it("dies outside a transaction", async () => {
    await expect(run(Effect.flatMap(organization, ({ id }) => commitTimestamp(id)))).rejects.toThrow(
      "outside a transaction",
    )
  })

  describe("on a different server than the previous timestamp", () => {
    /** An organization with a clock that was last advanced by a lost server. */
    const advancedElsewhere = Effect.fnUntraced(function* (identity: string | null) {
      const { id } = yield* organization
      yield* sql`
        update organization_clock set server_started_at = pg_postmaster_start_time() - interval '1 day',
          identity = case when ${identity}::text = 'here' then current_identity() else ${identity}::text end
        where organization_id = ${id}`
      return id
    })
    /** Takes a timestamp; returns it with its lead over the database's clock in seconds. */
    const stampAhead = Effect.fnUntraced(function* (id: OrganizationId) {
      const before = yield* value<string>`select clock_timestamp() as at`
      const stamp = yield* inTransaction(commitTimestamp(id))
      const seconds = yield* value<number>`
        select extract(epoch from ${stamp}::timestamptz - ${before}::timestamptz)::double precision as seconds`
      return { stamp, seconds }
    })

    test("continues from the clock after a restart with the same timeline", function* () {
      const id = yield* advancedElsewhere("here")
      expect((yield* stampAhead(id)).seconds).toBeLessThan(30)
    })

    test("is fenced once on a new timeline or cluster, or if the previous server is unknown", function* () {
      for (const identity of ["7711060699332017234/00000001", null]) {
        const id = yield* advancedElsewhere(identity)
        const first = yield* stampAhead(id)
        expect(first.seconds).toBeGreaterThanOrEqual(60)
        const second = yield* stampAhead(id)
        expect(Number(second.stamp.slice(-7, -1)) - Number(first.stamp.slice(-7, -1))).toBe(1)
      }
    })

    test("is fenced once if two transactions are the first", function* () {
      const id = yield* advancedElsewhere(null)
      const second = yield* whileOpen(commitTimestamp(id), (first) =>
        Effect.gen(function* () {
          const waiting = yield* Effect.forkChild(inTransaction(commitTimestamp(id)))
          yield* untilBlocked()
          return { first, waiting }
        }),
      )
      const stamp = yield* Fiber.join(second.waiting)
      const isNext = value`select ${stamp}::timestamptz - ${second.first}::timestamptz = interval '1 microsecond'`
      expect(yield* isNext).toBe(true)
    })

    it("is fenced by the configured number of seconds", async () => {
      const id = await run(advancedElsewhere(null))
      const name = await run(value<string>`select current_database()`)
      const database = { ...databaseAt(new URL(name, await postgresUrl()).href), clockSkewSeconds: 3600 }
      const stamp = Effect.gen(function* () {
        const transaction = yield* Transaction
        return yield* transaction.run(transaction.commitTimestamp(id))
      }).pipe(Effect.provide(TransactionPg.pipe(Layer.provide(databaseLayer({ database, applicationName: "test" })))))
      const ahead = Date.parse(await Effect.runPromise(stamp)) - (await run(Clock.currentTimeMillis))
      expect(ahead).toBeGreaterThan(3_000_000)
    })
  })

  test("doesn't change the clocks of other organizations", function* () {
    const [ours, theirs] = [yield* organization, yield* organization]
    // With a single clock the second transaction would wait for the first forever.
    const theirStamp = yield* whileOpen(commitTimestamp(ours.id), () => inTransaction(commitTimestamp(theirs.id)))
    expect(theirStamp).toMatch(/Z$/)
  })
})

const SKEW_SECONDS = 60

beforeAll(() =>
  run(function* () {
    // Functions that replace the server's functions, so that a test can simulate any server and time.
    yield* sql`create schema simulated`
    yield* sql`create table simulated.server (now timestamptz, identity text, started timestamptz)`
    yield* sql`insert into simulated.server default values`
    for (const [name, type, column] of [
      ["clock_timestamp", "timestamptz", "now"],
      ["pg_postmaster_start_time", "timestamptz", "started"],
      ["current_identity", "text", "identity"],
    ] as const) {
      yield* sql.unsafe(
        `create function simulated.${name}() returns ${type} language sql volatile as $$ select ${column} from simulated.server $$`,
      )
    }
  }),
)

/** A server in a chain of failovers. Times are in milliseconds. */
interface Server {
  /** The error of its clock. */
  readonly clockOff: number
  /** The time between the end of the previous server and the first timestamp. */
  readonly promotedAfter: number
  /** The time between a timestamp and the previous one. */
  readonly stampsAfter: ReadonlyArray<number>
  /** The number of last timestamps that are lost with it. The first one isn't lost, so that the next server knows of this server. */
  readonly lost: number
}

const chains = fc.array(
  fc.record({
    clockOff: fc.integer({ min: (-SKEW_SECONDS * 1000) / 2, max: (SKEW_SECONDS * 1000) / 2 }),
    promotedAfter: fc.oneof(fc.integer({ min: 1, max: 2000 }), fc.integer({ min: 1, max: 200_000 })),
    stampsAfter: fc.array(fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 90_000 })), {
      maxLength: 5,
    }),
    lost: fc.nat({ max: 5 }),
  }),
  { minLength: 1, maxLength: 6 },
)

/** Takes timestamps on each server, and compares each with all earlier ones and with the clocks. */
const check = Effect.fnUntraced(function* (id: OrganizationId, chain: ReadonlyArray<Server>) {
  const stampAt = (millis: number, identity: string) =>
    inTransaction(
      Effect.gen(function* () {
        yield* sql`set local search_path = simulated, public, pg_catalog`
        yield* sql`update simulated.server set now = to_timestamp(${millis / 1000}::double precision), identity = ${identity},
          started = '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => hashtext(${identity}))`
        return yield* commitTimestamp(id)
      }),
    )
  const read = sql<{ last: string; started: string; identity: string; fenced: string | null }>`
    select last::text, server_started_at::text as started, identity, fenced_at::text as fenced
    from organization_clock where organization_id = ${id}`
  let now = Date.parse("2030-01-01T00:00:00Z")
  let newest = 0
  const given: Array<string> = []
  for (const [number, { clockOff, promotedAfter, stampsAfter, lost }] of chain.entries()) {
    now += promotedAfter
    let surviving = (yield* read)[0]
    for (const [turn, after] of [0, ...stampsAfter].entries()) {
      now += after
      const stamp = yield* stampAt(now + clockOff, `7711060699332017234/${number}/x`)
      expect(
        given.every((each) => each < stamp),
        `a timestamp at or below an earlier one, on server ${number}`,
      ).toBe(true)
      given.push(stamp)
      newest = Math.max(newest, now + Math.max(...chain.map((each) => each.clockOff)))
      expect(
        (Date.parse(stamp) - newest) / 1000,
        `seconds ahead of all clocks, on server ${number}`,
      ).toBeLessThanOrEqual(SKEW_SECONDS + number + 1)
      if (turn <= stampsAfter.length - lost || turn === 0) surviving = (yield* read)[0]
    }
    const { last, started, identity, fenced } = surviving!
    yield* sql`
      update organization_clock set last = ${last}::timestamptz, server_started_at = ${started}::timestamptz,
        identity = ${identity}, fenced_at = ${fenced}::timestamptz where organization_id = ${id}`
  }
})

it("never returns a timestamp below one of a lost server, nor one further ahead of all clocks than the skew, after any chain of failovers", () =>
  fc.assert(
    fc.asyncProperty(chains, (chain) =>
      run(function* () {
        const { id } = yield* createOrganization("Acme")
        yield* sql`
          update organization_clock set last = '2020-01-01T00:00:00Z', server_started_at = null, identity = '1/1/1'
          where organization_id = ${id}`
        yield* check(id, chain)
      }),
    ),
    { numRuns: propertyRuns(2) },
  ))
