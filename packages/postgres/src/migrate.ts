import { Effect, Schema } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import callers from "../migrations/0001_callers.ts"
import campaigns from "../migrations/0002_campaigns.ts"
import deliveries from "../migrations/0003_deliveries.ts"
import messages from "../migrations/0004_messages.ts"
import inFlight from "../migrations/0005_in_flight.ts"
import lists from "../migrations/0006_lists.ts"
import idempotency from "../migrations/0007_idempotency.ts"
import deliveryHistory from "../migrations/0008_delivery_history.ts"
import replayJobs from "../migrations/0009_replay_jobs.ts"
import eventTraces from "../migrations/0010_event_traces.ts"
import inbox from "../migrations/0011_inbox.ts"
import digest from "../migrations/0012_digest.ts"
import withdrawals from "../migrations/0013_withdrawals.ts"
import qualifications from "../migrations/0014_qualifications.ts"
import mailPaces from "../migrations/0015_mail_paces.ts"
import hits from "../migrations/0016_hits.ts"
import unsubscriptions from "../migrations/0017_unsubscriptions.ts"
import claimMessages from "../migrations/0018_claim_messages.ts"
import deliveredKey from "../migrations/0019_delivered_key.ts"
import plannedClaims from "../migrations/0020_planned_claims.ts"
import hitWindows from "../migrations/0021_hit_windows.ts"
import unknownOutcomes from "../migrations/0022_unknown_outcomes.ts"
import timelines from "../migrations/0023_timelines.ts"

/** A migration waited too long for a table that another transaction holds. */
export class SchemaLocked extends Schema.TaggedError<SchemaLocked>()("SchemaLocked", {}) {
  override get message(): string {
    return "The migration gave up waiting for a table that another transaction holds, and changed nothing. End what `select pid, application_name, xact_start from pg_stat_activity order by xact_start` shows first, or wait for it, and run the command again."
  }
}

const run = Migrator.make({})({
  table: "migrations",
  loader: Migrator.fromRecord({
    "0001_callers": callers,
    "0002_campaigns": campaigns,
    "0003_deliveries": deliveries,
    "0004_messages": messages,
    "0005_in_flight": inFlight,
    "0006_lists": lists,
    "0007_idempotency": idempotency,
    "0008_delivery_history": deliveryHistory,
    "0009_replay_jobs": replayJobs,
    "0010_event_traces": eventTraces,
    "0011_inbox": inbox,
    "0012_digest": digest,
    "0013_withdrawals": withdrawals,
    "0014_qualifications": qualifications,
    "0015_mail_paces": mailPaces,
    "0016_hits": hits,
    "0017_unsubscriptions": unsubscriptions,
    "0018_claim_messages": claimMessages,
    "0019_delivered_key": deliveredKey,
    "0020_planned_claims": plannedClaims,
    "0021_hit_windows": hitWindows,
    "0022_unknown_outcomes": unknownOutcomes,
    "0023_timelines": timelines,
  }),
})

/**
 * Brings the database to the newest schema in one transaction, without a limit for its statements; returns the migrations that ran.
 *
 * Several processes may do so at once. Everybody else waits behind a lock that is waited for, so it fails with `SchemaLocked` after the time given.
 */
export const migrateWithin = (lockTimeout: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`select set_config('statement_timeout', '0', true)`
    // Whoever migrates at the same time is waited for, however long it takes.
    yield* sql`select pg_advisory_xact_lock(hashtextextended('migrate', 0))`
    yield* sql`select set_config('lock_timeout', ${lockTimeout}, true)`
    return yield* run
  }).pipe(
    (transaction) => Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(transaction)),
    Effect.catchIf(isLockTimeout, () => Effect.fail(new SchemaLocked())),
    Effect.withSpan("postgres.migrate"),
  )

/** Brings the database to the newest schema. */
export const migrate = migrateWithin("10s")

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
