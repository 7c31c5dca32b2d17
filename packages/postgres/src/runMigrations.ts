import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Schedule, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"

/** An index on a table that may be large: built while the table is read and written, outside a transaction. */
export interface ConcurrentIndex {
  readonly index: string
  /** What follows `on` in `create index`: the table, its columns and a condition. */
  readonly on: string
}

/** A change of the schema in a transaction, or an index that is built concurrently. */
export type Migration = Effect.Effect<void, unknown, SqlClient.SqlClient> | ConcurrentIndex

/** A migration waited too long for a table that another transaction holds. */
export class SchemaLocked extends Schema.TaggedError<SchemaLocked>()("SchemaLocked", {}) {
  override get message(): string {
    return "The migration gave up waiting for a table that another transaction holds, and its own transaction changed nothing. End what `select pid, application_name, xact_start from pg_stat_activity order by xact_start` shows first, or wait for it, and run the command again."
  }
}

/**
 * Runs the migrations that are not recorded, in their order and without a limit for a statement; returns those that ran.
 *
 * Several processes may do so at once: one after another. Migrations between two concurrent indexes run in one transaction.
 * Statements wait behind a lock that a migration waits for, so it fails with `SchemaLocked` after a time.
 * A concurrent index holds nobody up, so it waits for open transactions as long as they last.
 */
export const runMigrations = (
  migrations: Readonly<Record<string, Migration>>,
  options: {
    /** How long a transaction waits for a lock. Default 10 s. */
    readonly lockTimeout?: string
    /** Receives a sentence when a concurrent index begins to wait for a transaction. Default: the log. */
    readonly report?: (sentence: string) => Effect.Effect<void>
  } = {},
) =>
  Effect.gen(function* () {
    const { lockTimeout = "10s", report = Effect.logInfo } = options
    const pool = yield* PgClient.PgClient
    const numbered = Object.entries(migrations).map(([key, migration]): Numbered => {
      const [, number, name] = /^(\d+)_(.+)$/.exec(key)!
      return [Number(number), name!, migration]
    })
    // One connection holds the lock and does the work: whoever loses the one loses the other.
    const connection = PgClient.layerFrom(
      PgClient.makeClient({
        ...pool.config,
        startupParameters: { ...pool.config.startupParameters, statement_timeout: "0", lock_timeout: "0" },
      }),
    )
    return yield* Effect.provide(runPending(numbered, lockTimeout, reportBlockers(pool, report)), connection)
  }).pipe(
    Effect.catchIf(isLockTimeout, () => Effect.fail(new SchemaLocked())),
    Effect.withSpan("postgres.migrate"),
  )

type Numbered = readonly [id: number, name: string, migration: Migration]

const runPending = Effect.fnUntraced(function* (
  migrations: ReadonlyArray<Numbered>,
  lockTimeout: string,
  reportBlockers: (pid: number, index: string) => Effect.Effect<never>,
) {
  const sql = yield* SqlClient.SqlClient
  // Asks instead of waiting: the other process's concurrent index waits for every statement that is under way, also for this one.
  yield* Effect.repeat(
    sql<{ locked: boolean }>`select pg_try_advisory_lock(hashtextextended('migrate', 0)) as locked`,
    { until: ([row]) => row!.locked, schedule: Schedule.spaced("200 millis") },
  )
  yield* runTogether([], lockTimeout)
  const [state] = yield* sql<{ latest: number; pid: number }>`
    select coalesce(max(migration_id), 0) as latest, pg_backend_pid() as pid from migrations`
  const ran: Array<readonly [id: number, name: string]> = []
  for (const batch of toBatches(migrations.filter(([id]) => id > state!.latest))) {
    const [[id, name, migration]] = batch
    if (isIndex(migration)) {
      yield* buildIndex(migration).pipe(
        Effect.mapError(
          (cause) =>
            new Migrator.MigrationError({ kind: "Failed", cause, message: `Migration "${id}_${name}" failed` }),
        ),
        Effect.raceFirst(reportBlockers(state!.pid, migration.index)),
      )
    }
    ran.push(...(yield* runTogether(batch, lockTimeout)))
  }
  return ran
})

const isIndex = (migration: Migration): migration is ConcurrentIndex => !Effect.isEffect(migration)

/** Puts neighbours together, and each concurrent index apart. */
const toBatches = (migrations: ReadonlyArray<Numbered>) => {
  const batches: Array<[Numbered, ...Numbered[]]> = []
  for (const each of migrations) {
    const last = batches.at(-1)
    if (last === undefined || isIndex(last[0][2]) || isIndex(each[2])) batches.push([each])
    else last.push(each)
  }
  return batches
}

/** Runs and records migrations in one transaction; of an index, which is built by then, only the record is left to do. */
const runTogether = (batch: ReadonlyArray<Numbered>, lockTimeout: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`select set_config('lock_timeout', ${lockTimeout}, true)`
    return yield* Migrator.make({})({
      table: "migrations",
      loader: Effect.succeed(
        batch.map(([id, name, migration]) => [id, name, Effect.succeed(isIndex(migration) ? Effect.void : migration)]),
      ),
    })
  }).pipe((transaction) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(transaction)))

const buildIndex = Effect.fnUntraced(function* ({ index, on }: ConcurrentIndex) {
  const sql = yield* SqlClient.SqlClient
  // A build that was cut off leaves an index that costs every write and that no query uses.
  const invalid = yield* sql`select from pg_index where indexrelid = to_regclass(${index}) and not indisvalid`
  if (invalid.length > 0) yield* sql`drop index concurrently ${sql(index)}`
  yield* sql.unsafe(`create index concurrently if not exists ${index} on ${on}`)
})

/** Reports for which transactions a process waits, whenever they change, until it is interrupted. */
const reportBlockers =
  (sql: SqlClient.SqlClient, report: (sentence: string) => Effect.Effect<void>) => (pid: number, index: string) => {
    let reported = ""
    return Effect.gen(function* () {
      const blockers = yield* sql<{ pid: number; name: string; since: string }>`
        select pid, application_name as name, to_char(xact_start, 'YYYY-MM-DD HH24:MI:SS TZ') as since
        from pg_stat_activity where pid = any(pg_blocking_pids(${pid})) and pid <> pg_backend_pid() order by xact_start`
      const names = blockers.map(({ pid, name, since }) => `${pid} (${name}, since ${since})`).join(", ")
      if (names !== "" && names !== reported) {
        yield* report(`The index ${index} waits for the transaction of process ${names}; writes go on meanwhile.`)
      }
      reported = names
    }).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.ignore, Effect.andThen(Effect.never))
  }

const LOCK_NOT_AVAILABLE = "55P03"

/** Looks for the SQLSTATE through the causes of an error. */
function isLockTimeout(error: unknown): boolean {
  for (let each = error; typeof each === "object" && each !== null; ) {
    const { code, reason, cause } = each as {
      readonly code?: unknown
      readonly reason?: unknown
      readonly cause?: unknown
    }
    if (code === LOCK_NOT_AVAILABLE) return true
    each = cause ?? reason
  }
  return false
}
