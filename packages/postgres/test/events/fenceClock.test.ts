import { createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { inTransaction } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { beforeAll, expect, it } from "vitest"

const SKEW_SECONDS = 60

const run = runOnDatabase()
beforeAll(() =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      // Functions that take the place of the server's, so that a test is any server at any time.
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
  ),
)

/** A server of a chain, each of which takes the place of the one before. Times are in milliseconds. */
interface Server {
  /** How far its clock is from the right time. */
  readonly clockOff: number
  /** How long after the end of the one before it takes its first stamp. */
  readonly promotedAfter: number
  /** How long after the one before each stamp follows. */
  readonly stampsAfter: ReadonlyArray<number>
  /** How many of the last stamps are lost with it. The first one is not, so that the next server knows of this one. */
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

/** Takes stamps on each server, and compares each with all before and with the clocks. */
const check = Effect.fnUntraced(function* (id: OrganizationId, chain: ReadonlyArray<Server>) {
  const sql = yield* SqlClient.SqlClient
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
        `a stamp at or below one before, on server ${number}`,
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

it("gives no stamp below one of a lost server, and none that is further ahead of all clocks than the skew, however failovers follow one another", () =>
  fc.assert(
    fc.asyncProperty(chains, (chain) =>
      run(
        Effect.gen(function* () {
          const { id } = yield* (yield* OrganizationRepository).create(yield* createIdentifier("organization"), "Acme")
          const sql = yield* SqlClient.SqlClient
          yield* sql`
            update organization_clock set last = '2020-01-01T00:00:00Z', server_started_at = null, identity = '1/1/1'
            where organization_id = ${id}`
          yield* check(id, chain)
        }),
      ),
    ),
  ))
