import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { urlIn } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { Effect, Layer, Random, References, Schedule } from "effect"
import { expect, it } from "vitest"
import { startApiProcess } from "../startApiProcess.ts"
import { LISTS, type Version } from "./PolledList.ts"
import { makePollers, type Poller, poll } from "./Poller.ts"
import { register, stampLate, type Tally, writers } from "./writers.ts"

interface Outcome extends Tally {
  readonly verdicts: ReadonlyArray<Verdict>
  readonly recipients: number
  /** Number of recipient versions. */
  readonly versions: number
  readonly events: number
  /** Number of recipient versions of the other organization. */
  readonly beside: number
  readonly maxSeconds: number
}

/** Versions in the table that a poller missed, and versions it saw that weren't committed for its organization. */
interface Verdict {
  readonly poller: Poller
  readonly lost: ReadonlyArray<Version>
  readonly strange: ReadonlyArray<Version>
}

/**
 * Runs 24 writers of one organization and two of another for some seconds, while pollers read from two API processes;
 * then compares each poller's view with the tables.
 */
const pollWhileWriting = (databaseUrl: string, seconds: number) =>
  Effect.gen(function* () {
    yield* keepVersions
    const seed = yield* seedCampaign({ recipients: 1 })
    const { id: organizationId } = seed.organization
    const campaign = yield* createCampaign(seed.campaign)
    const beside = yield* seedCampaign({ recipients: 1 })
    yield* register(campaign, 20, 20)

    const urls = yield* Effect.all([started(databaseUrl), started(databaseUrl)], { concurrency: 2 })
    const pollers = makePollers()
    const tally: Tally = { rolledBack: 0 }
    let stopping = false
    let written = false

    const asProcess = (writers: ReadonlyArray<Write>) =>
      Effect.forEach(writers, (write) => repeat(write, () => stopping), { concurrency: "unbounded" }).pipe(
        Effect.provide(database(databaseUrl)),
      )
    const writing = Effect.all(
      [
        ...[1, 2, 3].map(() => asProcess(writers(campaign, tally))),
        asProcess([register(beside.campaign, 1, 10), publishSent(beside.campaign, 3)]),
      ],
      { concurrency: "unbounded" },
    ).pipe(Effect.tap(() => Effect.sync(() => (written = true))))
    const polling = Effect.forEach(
      pollers,
      (poller) => poll(poller, { organizationId, urls, written: () => written }),
      { concurrency: "unbounded" },
    )
    // On a busy machine it takes longer until the feed has events that could be missed.
    const published = LISTS.events
      .committed(organizationId)
      .pipe(Effect.repeat({ until: ({ size }) => size > 0, schedule: Schedule.spaced("200 millis") }))
    const holding = Effect.all([holdBack(seed.campaign), Effect.sleep(1000 * seconds), published], {
      concurrency: "unbounded",
    }).pipe(Effect.tap(() => Effect.sync(() => (stopping = true))))

    yield* Effect.all([holding, writing, polling], { concurrency: "unbounded" })
    const verdicts = yield* Effect.forEach(pollers, (poller) => judge(poller, organizationId))
    return { verdicts, ...tally, ...(yield* totals(organizationId)) } satisfies Outcome
  }).pipe(Effect.scoped, Effect.provide(database(databaseUrl)))

type Write = Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof adaptersFor>>>

const database = (url: string) =>
  Layer.fresh(adaptersFor(url)).pipe(Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Warn")))

const started = Effect.fnUntraced(function* (databaseUrl: string) {
  const process = yield* Effect.acquireRelease(
    Effect.sync(() => startApiProcess(databaseUrl)),
    (process) => Effect.promise(() => process.kill()),
  )
  return yield* Effect.promise(async () => urlIn(await until(process, "listening")))
})

// The pauses leave CPU time for other work.
const repeat = Effect.fnUntraced(function* (write: Write, stopped: () => boolean) {
  do {
    yield* write
    yield* Effect.sleep(yield* Random.nextIntBetween(20, 400))
  } while (!stopped())
})

const judge = Effect.fnUntraced(function* (poller: Poller, organizationId: OrganizationId) {
  const { expected, committed } = LISTS[poller.list]
  const [current, written] = [yield* expected(organizationId), yield* committed(organizationId)]
  return {
    poller,
    lost: [...current].filter((version) => !poller.seen.has(version)),
    strange: [...poller.seen].filter((version) => !written.has(version)),
  }
})

// Counts the written versions of the organization and of the other one.
const totals = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const rows = yield* sql<Omit<Outcome, "verdicts" | keyof Tally>>`
    select
      (select count(*)::int from recipients where organization_id = ${organizationId}) as recipients,
      (select count(*)::int from recipient_versions where organization_id = ${organizationId}) as versions,
      (select count(*)::int from events where organization_id = ${organizationId}) as events,
      (select count(*)::int from recipient_versions where organization_id <> ${organizationId}) as beside,
      (select extract(epoch from max(took))::float8 from recipient_versions) as "maxSeconds"`
  return rows[0]!
})

/**
 * Writes with an early stamp, and commits only when another writer waits for it, so that no poller passes the stamp.
 *
 * No other writer may write to the campaign's recipients, because a later stamp would show them again.
 */
const holdBack = Effect.fnUntraced(function* (campaign: Campaign) {
  yield* inTransaction(
    Effect.gen(function* () {
      yield* stampLate(campaign, 1, Effect.void)
      // Not pg_stat_activity, which doesn't change within a transaction after its first read.
      yield* sql`select from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))`.pipe(
        Effect.repeat({ until: ({ length }) => length > 0, schedule: Schedule.spaced("20 millis") }),
      )
    }),
  )
})

/**
 * Records every committed version of a recipient, with the duration of its transaction.
 *
 * The trigger is deferred to the commit, so the duration includes pauses. Rollbacks leave no record.
 */
const keepVersions = Effect.gen(function* () {
  yield* sql`
    create table recipient_versions (
      organization_id text collate "C", id text collate "C", updated_at timestamptz, took interval)`
  yield* sql`
    create function keep_version() returns trigger language plpgsql as $$ begin
      insert into recipient_versions
      values (new.organization_id, new.id, new.updated_at, clock_timestamp() - transaction_timestamp());
      return null;
    end $$`
  yield* sql`
    create constraint trigger keep_version after insert or update on recipients
    deferrable initially deferred for each row execute function keep_version()`
})

/** Minimum writing time in seconds. */
const SECONDS = Number(process.env["LOSSLESS_SECONDS"] ?? 5)

/** Descriptions of the pollers that match a condition. */
const pollersWith = ({ verdicts }: Outcome, is: (verdict: Outcome["verdicts"][number]) => boolean) =>
  verdicts.filter(is).map(({ poller }) => `${poller.list}, ${poller.habit}, ${poller.limit}`)

const databaseUrl = migratedDatabase()

it("a poller sees every row, and no foreign or rolled-back one, with any limit and polling habit", async () => {
  const outcome = await Effect.runPromise(pollWhileWriting(databaseUrl(), SECONDS))
  const { verdicts, ...counts } = outcome
  console.log({ ...counts, pages: verdicts.reduce((sum, { poller }) => sum + poller.pages, 0) })
  expect(pollersWith(outcome, ({ lost }) => lost.length > 0)).toEqual([])
  expect(pollersWith(outcome, ({ strange }) => strange.length > 0)).toEqual([])
  expect(pollersWith(outcome, ({ poller }) => poller.seen.size === 0)).toEqual([])

  // The run contained rows that could be missed, and rows that must not be visible.
  expect(outcome.versions).toBeGreaterThan(outcome.recipients)
  expect(outcome.rolledBack).toBeGreaterThan(0)
  expect(outcome.beside).toBeGreaterThan(1)
})
