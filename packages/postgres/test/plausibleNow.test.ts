import { describe, expect } from "@effect/vitest"
import { clockFaultsFinding, clockFinding } from "@outreach/backoffice/inspection/databaseFindings"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { ErasureRepository } from "@outreach/domain/erasure/Erasure"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { OldRows } from "@outreach/postgres/OldRows"
import { PARTITIONED_TABLES } from "@outreach/postgres/Partitions"
import { migratedDatabase, runOnDatabase, testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { column, fragment, sql, value } from "@outreach/testing/sql"
import { asRole } from "@outreach/testing/testRoles"
import { Effect } from "effect"
import { simulatedClock, stepClock } from "./simulatedClock.ts"

const url = migratedDatabase()
const setClock = simulatedClock(url)
const runAsOwner = runOnDatabase({ url })
/** Runs a part of a test as the owner of the tables. */
const asOwner = <A, E>(effect: Effect.Effect<A, E, Services>): Effect.Effect<A, E> =>
  Effect.flatten(Effect.promise(() => runAsOwner(Effect.exit(effect))))
// The other statements use the worker's role, which doesn't own the tables.
const { test } = testsOnDatabase({ url: () => asRole(url(), "worker") })
type Services = Parameters<typeof runAsOwner>[0] extends Effect.Effect<unknown, unknown, infer R> ? R : never

const at = (days: number): string => new Date(Date.UTC(2050, 5, 15, 12) + days * 86_400_000).toISOString()
const trusted = (days: number) => asOwner(setClock(at(days)))
/** Sets the clock without changing the last trusted time. */
const stepped = (days: number) => asOwner(stepClock(at(days)))

const keep = (table: string, days: number | null) =>
  Effect.map(
    sql<{ added: number; dropped: number; reason: string | null }>`
      select added, dropped, reason from keep_partitions(${table}, ${days}::int)`,
    ([row]) => row!,
  )
const partitionsOf = (table: string) =>
  column<string>`select name from partition_ranges(${table}) where ends_at is not null order by ends_at`
/** Compares the clock for a worker with a clock at day `own`, and an extrapolated time of day `reckoned`. */
const doubt = (own: number, reckoned = own) =>
  value<string | null>`select doubt from watch_clock(${at(own)}::timestamptz, ${at(reckoned)}::timestamptz)`
const addAll = Effect.forEach(PARTITIONED_TABLES, (table) => keep(table, null), { discard: true })

/** Writes a row of a number of days ago to each table with a retention period. */
const seedOld = (days: number) =>
  asOwner(
    Effect.gen(function* () {
      const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 1 })
      const recipient = yield* value<string>`select id from recipients where organization_id = ${organization.id}`
      const old = fragment`${at(-days)}::timestamptz`
      yield* sql`
        insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
        values (${organization.id}, 'hit_old', ${recipient}, 'open', 'GET', '198.51.100.7', '{}', ${old}, ${old}, '{}')`
      yield* sql`
        insert into message_attempts (organization_id, recipient_id, number, outcome, first_at, last_at)
        values (${organization.id}, ${recipient}, 1, 'accepted', ${old}, ${old})`
      yield* sql`
        insert into delivery_outcomes (organization_id, endpoint_id, at, seconds)
        values (${organization.id}, ${endpoint.id}, ${old}, 3600)`
      yield* sql`
        insert into failure_groups (organization_id, id, endpoint_id, outcome, opened_at, last_at, stored)
        values (${organization.id}, 'fgr_1', ${endpoint.id}, 'client_error', ${old}, ${old}, 1),
          (${organization.id}, 'fgr_2', ${endpoint.id}, 'client_error', ${old}, ${old}, 0)`
      yield* sql`
        insert into stored_responses (organization_id, key, fingerprint, status, headers, encoding, bytes_before, created_at)
        values (${organization.id}, 'key', '', 200, '{}', 'identity', 0, ${old})`
      yield* sql`
        insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at, finished_at)
        values (${organization.id}, make_id('dlv'), ${endpoint.id}, 'evt_1', 'rejected', '[]', 'fgr_1', ${old}, ${old})`
      yield* sql`update campaigns set status = 'completed', updated_at = ${old} where id = ${campaign.id}`
    }),
  )
const countOld = asOwner(
  value<Readonly<Record<string, number>>>`
    select jsonb_build_object(
      'hits', (select count(*) from hits), 'attempts', (select count(*) from message_attempts),
      'outcomes', (select count(*) from delivery_outcomes), 'groups', (select count(*) from failure_groups where id = 'fgr_2'),
      'responses', (select count(*) from stored_responses), 'deadLetters', (select count(*) from dead_letters))`,
)
const ALL_THERE = { hits: 1, attempts: 1, outcomes: 1, groups: 1, responses: 1, deadLetters: 1 }

/** Deletes rows older than 90 days or their retention period; returns the campaign with recipients to erase. */
const forgetAll = Effect.gen(function* () {
  const rows = yield* OldRows
  yield* rows.deleteHits(90)
  yield* rows.deleteAttempts(90)
  yield* (yield* DeliveryOutcomes).forget(90)
  yield* (yield* DeliveryOutcomes).forgetGroups(90)
  yield* rows.deleteResponses
  yield* rows.deleteSignIns
  const deadLetters = yield* DeliveryRepository
  const before = yield* deadLetters.daysAgo(90)
  if (before !== null) yield* deadLetters.purge({ keepsDoubtful: true }, before, null)
  return yield* (yield* ErasureRepository).findEnded(3, null)
})

// The clock continues from test to test.
describe("the time for dropping and erasing", { shuffle: false }, () => {
  test("is null and prevents deletion while the database's clock is 800 days wrong, but not afterwards", function* () {
    yield* trusted(0)
    yield* addAll
    yield* seedOld(1)
    const partitions = yield* Effect.forEach(PARTITIONED_TABLES, partitionsOf)
    for (const days of [800, -800]) {
      yield* stepped(days)
      expect(yield* doubt(0)).toMatch(/^the database's clock says .*, and the worker's 2050-06-15/)
      for (const table of PARTITIONED_TABLES) {
        expect(yield* keep(table, null)).toEqual({ added: 0, dropped: 0, reason: null })
        expect(yield* keep(table, 7)).toEqual({ added: 0, dropped: 0, reason: null })
      }
      expect(yield* forgetAll).toBeUndefined()
      expect(yield* Effect.forEach(PARTITIONED_TABLES, partitionsOf)).toEqual(partitions)
      expect(yield* countOld).toMatchObject(ALL_THERE)
      yield* stepped(0)
      expect(yield* doubt(0)).toBeNull()
    }
    // A correct clock allows expired rows to be deleted.
    yield* trusted(100)
    expect(yield* forgetAll).toMatchObject({ campaignId: expect.any(String) })
    expect(Object.values(yield* countOld).reduce((sum, count) => sum + count, 0)).toBe(0)
  })

  test("drops at most one month, or one day of deliveries, per day", function* () {
    yield* asOwner(Effect.andThen(sql.unsafe("delete from hits"), sql.unsafe("delete from events")))
    const dropped = Effect.forEach(PARTITIONED_TABLES, (table) =>
      Effect.map(partitionsOf(table), (names) => names.find((name) => !name.endsWith("earlier"))),
    )
    yield* trusted(200)
    for (const day of [201, 202]) {
      yield* asOwner(stepClock(at(day)))
      yield* asOwner(sql.unsafe(`update clock_watch set believed_at = '${at(day)}'`))
      const before = yield* dropped
      for (const table of PARTITIONED_TABLES) {
        expect((yield* keep(table, 1)).dropped).toBeGreaterThan(0)
        const after = yield* partitionsOf(table)
        expect((yield* keep(table, 1)).dropped).toBe(0)
        expect(yield* partitionsOf(table)).toEqual(after)
      }
      expect(yield* dropped).not.toEqual(before)
    }
  })

  test("keeps the minimum that the owner set, and rejects invalid limits", function* () {
    yield* trusted(300)
    yield* asOwner(sql.unsafe("update retention_limits set min_keep = 1000, dropped_on = null"))
    for (const table of PARTITIONED_TABLES) {
      const names = yield* partitionsOf(table)
      // The months of hits depend on the time of their classification.
      if (table !== "hits") expect((yield* keep(table, 1)).dropped).toBe(0)
      for (const limit of [0, -1, -2_147_483_648, 3651, 2_147_483_647]) {
        expect(String(yield* Effect.flip(keep(table, limit)))).toContain("SqlError")
      }
      if (table !== "hits") expect(yield* partitionsOf(table)).toEqual(names)
    }
  })

  test("doesn't return after an unobserved gap before the clock has advanced steadily", function* () {
    yield* trusted(400)
    yield* asOwner(sql.unsafe("update clock_watch set faults = '{}'"))
    const hour = 1 / 24
    // After a gap of three days, trust returns after three hours.
    yield* stepped(403)
    expect(yield* doubt(403)).toContain("it was last right at 2051-07-20 12:00:00+00")
    yield* stepped(403 + 0.9 * hour)
    expect(yield* doubt(403 + 0.9 * hour)).not.toBeNull()
    // A gap or a step restarts the waiting time.
    yield* stepped(403 + 2.5 * hour)
    expect(yield* doubt(403 + 2.5 * hour)).not.toBeNull()
    for (const hours of [3.4, 4.3, 5.2]) {
      yield* stepped(403 + hours * hour)
      expect(yield* doubt(403 + hours * hour)).not.toBeNull()
    }
    yield* stepped(403 + 5.7 * hour)
    expect(yield* doubt(403 + 5.7 * hour)).toBeNull()
    expect(yield* value`select plausible_now()`).not.toBeNull()
    // The clock was correct during the whole time.
    expect(yield* sql.unsafe("select from clock_watch where not isempty(faults)")).toEqual([])
  })

  test("isn't trusted by a worker if its clock or its extrapolated time differs", function* () {
    yield* trusted(410)
    expect(yield* doubt(410.04)).toBeNull()
    expect(yield* doubt(1210)).toContain("and the worker's")
    expect(yield* doubt(-390)).toContain("and the worker's")
    expect(yield* doubt(410, 409)).toContain("and by its earlier readings it is 2051-07-29")
    // The worker's clock was wrong, and a second worker trusts the database.
    expect(yield* doubt(410)).toBeNull()
    expect(yield* sql.unsafe("select from clock_watch where not isempty(faults)")).toEqual([])
  })

  test("keeps rows with wrong timestamps, and the operator's check shows their times", function* () {
    yield* trusted(500)
    yield* stepped(-300)
    expect(yield* doubt(500)).not.toBeNull()
    yield* asOwner(seedOld(300))
    yield* stepped(500)
    expect(yield* doubt(500)).toBeNull()
    yield* forgetAll
    const { responses, ...left } = yield* countOld
    expect(left).toEqual({ hits: 1, attempts: 1, outcomes: 1, groups: 1, deadLetters: 1 })
    expect(yield* asOwner(clockFaultsFinding)).toMatchObject({
      status: "warning",
      found: expect.stringContaining("2049-08-19 11:00 to 2049-08-19 13:00"),
    })
    // After the operator's decision they are deleted.
    yield* asOwner(sql.unsafe("update clock_watch set faults = '{}'"))
    yield* forgetAll
    expect(yield* countOld).toMatchObject({ hits: 0, attempts: 0, outcomes: 0, groups: 0, deadLetters: 0 })
  })

  test("is doubted immediately by an operator's check", function* () {
    yield* trusted(510)
    yield* stepped(1310)
    yield* doubt(510)
    expect(yield* clockFinding).toMatchObject({
      status: "warning",
      found: expect.stringContaining("don't trust the database's clock, so no data is deleted or erased by age: "),
    })
    yield* trusted(510)
    expect((yield* clockFinding).found).not.toContain("do not believe")
  })
})
