import { RESPONSE_RETENTION_SECONDS } from "@outreach/domain/idempotency/executeOnce"
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { DatabaseService } from "./adapter.ts"
import { decodeCount } from "./rowsOf.ts"

/** The number of rows that one statement deletes, for some tens of milliseconds. */
const BATCH_SIZE = 1000

/** Deletes rows by age, except deliveries and partitions. While the database's clock isn't trusted, no rows are deleted. */
export class OldRows extends DatabaseService<OldRows>()("postgres/OldRows", (sql) => ({
  deleteRateWindows: sql`delete from rate_windows where window_start < extract(epoch from plausible_now())::bigint - 120`,

  deleteResponses: sql`
    delete from stored_responses
    where created_at < plausible_now() - make_interval(secs => ${RESPONSE_RETENTION_SECONDS}::double precision)`,

  // An hour is longer than the saved second, so that a clock set back doesn't delete active rates. Skips locked rows, because a claim
  // locks rates in a different order.
  deleteSendRates: sql`
    delete from send_rates where scope in (
      select scope from send_rates where next_at < plausible_now() - interval '1 hour' for update skip locked)`,

  deleteSignIns: Effect.gen(function* () {
    yield* sql`delete from sign_in_links where expires_at < plausible_now()`
    yield* sql`delete from operator_sessions where expires_at < plausible_now()`
  }),

  /** Deletes some attempts to send messages; returns the number. */
  deleteAttempts: (days: number) =>
    forgetRows(sql, "message_attempts", {
      key: ["organization_id", "recipient_id", "number", "outcome"],
      where: isOld(sql, "last_at", days),
      orderBy: "last_at",
    }),

  /** Deletes some hits that were classified more than a number of days ago; returns the number. Also deletes counts of hits after an hour. */
  deleteHits: Effect.fnUntraced(function* (days: number) {
    yield* forgetRows(sql, "hit_windows", {
      key: ["window_start", "organization_id", "recipient_id", "link_hash", "network"],
      where: sql`window_start < plausible_now() - interval '1 hour'`,
      orderBy: "window_start",
    })
    return yield* forgetRows(sql, "hits", {
      key: ["organization_id", "id"],
      where: isOld(sql, "judged_at", days),
      orderBy: "judged_at",
    })
  }),
})) {}

/** Creates the condition that a time is more than a number of days ago. False for times when the database's clock wasn't trusted. */
export const isOld = (sql: SqlClient.SqlClient, column: string, days: number) =>
  sql`${sql(column)} < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(${sql(column)})`

/**
 * Deletes a batch of a table's rows, the earliest first; returns the number, 0 when there are no more. Workers share the work and skip
 * locked rows.
 */
export const forgetRows = (
  sql: SqlClient.SqlClient,
  table: string,
  options: {
    /** The columns of the primary key. */
    readonly key: ReadonlyArray<string>
    readonly where: Statement.Fragment
    readonly orderBy: string
  },
) =>
  sql`
    with old as materialized (
      select ${sql.csv(options.key)} from ${sql(table)}
      where ${options.where} order by ${sql(options.orderBy)} limit ${BATCH_SIZE}::int for update skip locked
    ), gone as (
      delete from ${sql(table)} kept using old
      where ${sql.and(options.key.map((column) => `kept.${column} = old.${column}`))}
      returning 1
    )
    select count(*)::int as count from gone`.pipe(decodeCount)
