import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { describe, expect } from "@effect/vitest"
import { FEED_EVENT_TYPES } from "@outreach/contract"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { createIdentifier } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { EventFeed } from "@outreach/postgres/events/EventFeed"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { Partitions } from "@outreach/postgres/Partitions"
import { adaptersFor, testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { effectTest } from "@outreach/testing/effectTest"
import { publishSent } from "@outreach/testing/publishTogether"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Clock, Effect, Fiber, type Layer } from "effect"
import { SqlClient } from "effect/sql"

const SQL = new URL("../../sql/", import.meta.url)

/** Copies the files of `sql/` into a folder: all functions, and the migrations under the names that `rename` gives them; undefined leaves one out. */
const copySql = async (rename: (file: string) => string | undefined): Promise<URL> => {
  const folder = await mkdtemp(join(tmpdir(), "sql-"))
  await cp(fileURLToPath(new URL("functions", SQL)), join(folder, "functions"), { recursive: true })
  await mkdir(join(folder, "migrations"))
  for (const file of await readdir(new URL("migrations", SQL))) {
    const name = rename(file)
    if (name !== undefined) await cp(new URL(`migrations/${file}`, SQL), join(folder, "migrations", name))
  }
  return pathToFileURL(`${folder}/`)
}

const isUpTo = (number: string, file: string) => file.slice(0, 4) <= number

/** What is built on a table that 0002 makes. */
const isOnInboxKeys = (file: string) => file.startsWith("0038_")

/**
 * A database whose tables have no partitions yet, and all else that today's adapters need: the migrations after 0004 ran before 0002, and
 * nothing is recorded of them.
 */
const url = testDatabase({
  name: "baseline",
  sources: [SQL],
  migrate: async (url) => {
    const folder = await copySql((file) =>
      isUpTo("0001", file) ? file : isUpTo("0004", file) || isOnInboxKeys(file) ? undefined : `0001_then_${file}`,
    )
    const forget = SqlClient.SqlClient.use(
      (sql) => sql`delete from migrations where file like 'migrations/0001_then_%'`,
    )
    try {
      await Effect.runPromise(Effect.provide(Effect.andThen(runMigrations({ folder }), forget), testDatabaseLayer(url)))
    } finally {
      await rm(folder, { recursive: true })
    }
  },
})
const test = effectTest(
  <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>): Promise<A> =>
    Effect.runPromise(Effect.provide(effect, adaptersFor(url()))),
)

const tables = ["events", "inbox", "hits"] as const
const partitionsOf = (table: (typeof tables)[number]) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ name: string }>`
        select relname::text as name from pg_inherits join pg_class on oid = inhrelid
        where inhparent = ${table}::regclass order by relname`,
      (rows) => rows.map(({ name }) => name),
    ),
  )

describe("a database without partitions", () => {
  test("becomes one with them while it is written, and keeps every row", function* () {
    const sql = yield* SqlClient.SqlClient
    const seed = yield* seedCampaign({ recipients: 1 })
    const { organization, campaign } = seed
    const recipients = yield* sql<{ id: never }>`select id from recipients where organization_id = ${organization.id}`
    const hit = Effect.gen(function* () {
      return {
        id: yield* createIdentifier("hit"),
        organizationId: organization.id,
        recipientId: recipients[0]!.id,
        link: "https://clinic.test/",
        method: "GET",
        address: "198.51.100.7",
        headers: {},
        cameAt: yield* Clock.currentTimeMillis,
      }
    })
    const hits = yield* HitRepository
    const receive = (id: string) => receiveEvent(seed, id, "account.created", { npi: "1234567893", n: id })
    const published = yield* publishSent(campaign, 3)
    expect(yield* receive("evt_applied")).toBe("stored")
    yield* applyBatches
    expect(yield* receive("evt_waiting")).toBe("stored")
    const first = yield* hit
    yield* hits.record([first])
    // One delivery has failed and waits as a row, and one is a dead letter.
    const worker = yield* workerOn()
    const [failed, refused] = yield* worker.take()
    yield* worker.settle([failed!], { state: "retry", delaySeconds: 0 }, 503)
    yield* worker.settle([refused!], { state: "rejected" }, 410)

    // All three tables are written again and again until the migration is over.
    let isOver = false
    const writing = yield* Effect.forkChild(
      Effect.gen(function* () {
        let rounds = 0
        while (!isOver) {
          rounds += 1
          published.push(...(yield* publishSent(campaign, 1)))
          expect(yield* receive(`evt_${rounds}`)).toBe("stored")
          expect(yield* receive(`evt_${rounds}`)).toBe("repeated")
          yield* hits.record([yield* hit])
        }
        return rounds
      }),
    )
    const folder = yield* Effect.promise(() => copySql((file) => (isUpTo("0004", file) ? file : undefined)))
    const ran = yield* runMigrations({ folder })
    isOver = true
    yield* Effect.promise(() => rm(folder, { recursive: true }))
    expect(ran).toEqual([
      "migrations/0002_prepare_partitions.sql",
      "migrations/0003_events_earlier_pkey.sql",
      "migrations/0004_partitions.sql",
    ])
    const rounds = yield* Fiber.join(writing)

    for (const table of tables) expect(yield* partitionsOf(table)).toEqual([`${table}_earlier`, `${table}_later`])
    expect(
      yield* sql`
        select (select count(*)::int from events) as events, (select count(*)::int from inbox) as inbox,
          (select count(*)::int from inbox join inbox_keys using (organization_id, event_id, received_at)) as keys,
          (select count(*)::int from hits) as hits,
          (select sum(1 + repeats)::int from hits) as "allHits"`,
    ).toEqual([
      {
        events: published.length,
        inbox: rounds + 2,
        keys: rounds + 2,
        hits: Math.min(20, rounds + 1),
        allHits: rounds + 1,
      },
    ])

    // What was received or came before is known.
    expect(yield* receive("evt_applied")).toBe("repeated")
    expect(yield* receiveEvent(seed, "evt_waiting", "account.created", { npi: "1234567893", n: "another body" })).toBe(
      "differs",
    )
    yield* hits.record([first])
    const since = Timestamp.make("2026-01-01T00:00:00.000000Z")
    const page = yield* (yield* EventFeed).page(organization.id, FEED_EVENT_TYPES, { since }, 1000)
    expect(page.map(({ id }) => id)).toEqual(published)
    // All but the dead letter, and the one whose call is still under way.
    expect(yield* worker.take(1000)).toHaveLength(published.length - 2)
    expect(yield* sql`select event_id from dead_letters`).toEqual([{ event_id: refused!.eventId }])

    // The statement by which the first release stores hits.
    yield* sql`
      insert into hits select * from hits where id = ${first.id}
      on conflict (organization_id, id) do nothing`
    // The first partition reaches into the month after next at most.
    const partitions = yield* Partitions
    for (const table of tables) {
      expect(yield* partitions.add(table)).toBe(1)
      expect(yield* partitions.add(table)).toBe(0)
    }
  })
})
