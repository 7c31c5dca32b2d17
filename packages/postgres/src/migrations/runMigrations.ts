import * as PgClient from "@effect/sql-pg/PgClient"
import { DescribedError } from "@outreach/domain/DescribedError"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { describeDatabaseError, isPoolerRefusal } from "@outreach/postgres-connection/describeDatabaseError"
import { SESSION_SETTINGS } from "@outreach/postgres-connection/sessionSettings"
import { type Duration, Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { INSUFFICIENT_PRIVILEGE } from "../describeFault.ts"
import { readSqlFiles, SQL_FOLDER, type SqlFile } from "../readSqlFiles.ts"
import { assertRolesExist, type GrantedRole, grantRoles } from "../roles/grantRoles.ts"
import { decodeRow, decodeRows } from "../rowsOf.ts"
import { buildIndex, concurrentIndexOf, reportBlockers } from "./buildIndex.ts"
import { type MigrationPlan, planMigrations } from "./planMigrations.ts"

export class SchemaLocked extends DescribedError(
  "SchemaLocked",
  "The migration timed out waiting for a table that a different transaction has locked; it was rolled back. End the first transaction of `select pid, application_name, xact_start from pg_stat_activity order by xact_start` or wait for it, and run the command again.",
) {}

/** The migration's connection loses session settings and therefore its lock, for example behind a pooler. */
export class SessionNotKept extends DescribedError(
  "SessionNotKept",
  "A pooler between the migration and the database does not keep sessions. Set DATABASE_LISTEN_URL to the address of the database; it defaults to DATABASE_URL.",
) {}

/** The role isn't the owner of the schema. */
export class NotOwner extends DescribedError(
  "NotOwner",
  "The role of DATABASE_URL may not change the schema; the transaction was rolled back. Migrate as the owner of the tables.",
) {}

/** The database rejected a file. */
export class MigrationFailed extends DescribedError(
  "MigrationFailed",
  ({ file, cause }: { readonly file: string; readonly cause: unknown }) =>
    `The database rejected ${file} (SQLSTATE ${describeDatabaseError(cause).code}); the transaction was rolled back.`,
) {}

interface Options {
  /** The folder of `migrations/*.sql` and `functions/*.sql`. Default: the folder of `#sql/*` in `package.json`. */
  readonly folder?: URL
  /** How long a transaction is retried if it can't acquire its locks. Default: 100 s. */
  readonly giveUpAfter?: Duration.Input
  /** Receives a message for an operator. Default: the log. */
  readonly report?: (message: string) => Effect.Effect<void>
  /** Roles that receive the rights of their kind now and in later migrations. Default: none. */
  readonly grantTo?: ReadonlyArray<GrantedRole>
  /** Also applies the session settings to all these roles. Default: false. */
  readonly withSessionSettings?: boolean
}

/**
 * Applies the pending files without a statement time limit; returns them.
 *
 * Migrations are applied once, in order. A function is created again whenever its text changed.
 * If a newer release has migrated the database, no files are applied.
 *
 * Concurrent processes run one after another. All files are applied in one transaction, except files that build an index concurrently or
 * request a separate transaction.
 * Other statements queue behind a lock that a migration waits for. So a transaction waits briefly, is rolled back and retried, and eventually
 * fails with `SchemaLocked`.
 * A concurrent index build doesn't block other statements, so it waits for open transactions without a limit.
 */
export const runMigrations = (options: Options = {}) =>
  Effect.gen(function* () {
    const pool = yield* PgClient.PgClient
    const direct = yield* (yield* DatabaseRoute).direct
    // The same connection has the lock and runs the migration, so losing one means losing both.
    const connection = PgClient.layerFrom(
      PgClient.makeClient({
        ...direct,
        startupParameters: { ...direct.startupParameters, statement_timeout: "0", lock_timeout: "0" },
      }),
    )
    return yield* Effect.provide(runPending(options, pool), connection)
  }).pipe(
    Effect.mapError((error) => {
      const { code } = describeDatabaseError(error)
      if (code === LOCK_NOT_AVAILABLE) return new SchemaLocked()
      if (isPoolerRefusal(error)) return new SessionNotKept()
      return code === INSUFFICIENT_PRIVILEGE ? new NotOwner() : error
    }),
    Effect.withSpan("postgres.migrate"),
  )

const decodeSession = decodeRow({ locked: Schema.Boolean, pid: Schema.Int })
const decodeApplied = decodeRows({ file: Schema.String, checksum: Schema.String })

const LOCK_NOT_AVAILABLE = "55P03"
const DEADLOCK_DETECTED = "40P01"

/** How long a transaction waits for a lock while it blocks other users of the table. */
const LOCK_TIMEOUT = "300ms"
/** Longer than `deadlock_timeout`, after which PostgreSQL cancels an autovacuum that locks the table. */
const LONG_LOCK_TIMEOUT = "2s"

const runPending = Effect.fnUntraced(function* (
  {
    folder = SQL_FOLDER,
    giveUpAfter = "100 seconds",
    report = Effect.logInfo,
    grantTo = [],
    withSessionSettings = false,
  }: Options,
  pool: SqlClient.SqlClient,
) {
  const sql = yield* SqlClient.SqlClient
  // Acquires all locks or none. A different transaction may have the missing lock and wait for one of ours;
  // waiting longer would block both, and all statements behind them, until the statement_timeout of the other process.
  const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
    let attempts = 0
    return Effect.suspend(() => {
      attempts += 1
      const lockTimeout = attempts % 10 === 0 ? LONG_LOCK_TIMEOUT : LOCK_TIMEOUT
      return sql.withTransaction(Effect.andThen(sql`select set_config('lock_timeout', ${lockTimeout}, true)`, effect))
    }).pipe(
      Effect.retry({
        while: (error) => [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED].includes(describeDatabaseError(error).code),
        schedule: Schedule.upTo(Schedule.spaced("200 millis"), { duration: giveUpAfter }),
      }),
    )
  }

  // Both settings differ from the defaults, so the check shows if the connection kept them.
  const [kept] = yield* sql`
    select where current_setting('statement_timeout') = '0'
      and current_setting('client_connection_check_interval') = ${SESSION_SETTINGS.client_connection_check_interval}`
  if (kept === undefined) return yield* new SessionNotKept()
  const files = yield* readSqlFiles(folder)
  // Polls for the lock, because a concurrent index build of a different process waits for running statements, including a blocking lock call.
  const { pid } = yield* Effect.repeat(
    sql`select pg_try_advisory_lock(hashtextextended('migrate', 0)) as locked, pg_backend_pid() as pid`.pipe(
      decodeSession,
    ),
    { until: ({ locked }) => locked, schedule: Schedule.spaced("200 millis") },
  )
  yield* assertRolesExist(grantTo)
  const plan = yield* inTransaction(Effect.flatMap(readApplied, (applied) => planMigrations(files, applied)))
  if (plan.isNewer) yield* report("A newer release has migrated this database; nothing was changed.")

  const batches = toBatches(plan.migrations)
  for (const [position, batch] of batches.entries()) {
    const index = batch[0] && concurrentIndexOf(batch[0])
    if (index) {
      yield* failAs(batch[0]!, buildIndex(index, batch[0]!)).pipe(
        Effect.raceFirst(reportBlockers(pool, report, pid, index)),
      )
    }
    yield* inTransaction(
      Effect.gen(function* () {
        if (position === 0) yield* createFunctions(plan, { checkBodies: "off" })
        for (const file of batch) {
          // Wrapped in a PL/pgSQL block, because the client sends one statement at a time.
          if (!index) yield* failAs(file, sql.unsafe(`do $migration$ begin ${file.text}\nend $migration$`))
          yield* record(file)
        }
        if (position < batches.length - 1) return
        yield* createFunctions(plan, { checkBodies: "on" })
        for (const file of plan.functions) yield* record(file)
        for (const file of plan.removed) {
          yield* sql`drop function if exists ${sql(file.slice("functions/".length, -".sql".length))}`
          yield* sql`delete from migrations where file = ${file}`
          yield* report(`The function of ${file} was dropped, because the file is gone.`)
        }
        // The newer release has already granted the rights.
        if (!plan.isNewer) yield* grantRoles(grantTo, { withSessionSettings, report })
      }),
    )
  }
  return [...plan.migrations, ...plan.functions].map(({ file }) => file)
})

const readApplied = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table if not exists migrations (
      file text collate "C" primary key,
      checksum text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`
  const rows = yield* sql`select file, checksum from migrations`.pipe(decodeApplied)
  return new Map(rows.map(({ file, checksum }) => [file, checksum]))
})

/** Batches consecutive migrations. Concurrent indexes and files that request it are separate batches. The first and the last batch may be empty. */
const toBatches = (migrations: ReadonlyArray<SqlFile>) => {
  const batches: Array<Array<SqlFile>> = [[]]
  for (const each of migrations) {
    const isSeparate = concurrentIndexOf(each) !== undefined || each.text.startsWith("-- In a transaction of its own")
    if (isSeparate) batches.push([each], [])
    else batches.at(-1)!.push(each)
  }
  return batches
}

/**
 * Creates the changed functions: before the migrations, because table defaults and triggers call functions, and again
 * afterwards, because their bodies are checked against the tables.
 */
const createFunctions = Effect.fnUntraced(function* (
  { functions }: MigrationPlan,
  { checkBodies }: { readonly checkBodies: "on" | "off" },
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select set_config('check_function_bodies', ${checkBodies}, true)`
  for (const file of functions) yield* failAs(file, sql.unsafe(file.text))
})

const record = Effect.fnUntraced(function* ({ file, checksum }: SqlFile) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    insert into migrations (file, checksum) values (${file}, ${checksum})
    on conflict (file) do update set checksum = excluded.checksum, applied_at = default`
})

const failAs = <A, E, R>({ file }: SqlFile, effect: Effect.Effect<A, E, R>) =>
  Effect.mapError(effect, (cause) => new MigrationFailed({ file, cause }))
