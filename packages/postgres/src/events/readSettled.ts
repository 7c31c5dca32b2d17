import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import type { ListPage } from "@outreach/domain/Transaction"
import { Context, type Duration, Effect, Option, Schedule, Schema } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { decodeRows, decodeValue } from "../rowsOf.ts"

/** The maximum time that a page waits for a timestamp in progress. */
export const SettlingLimit = Context.Reference<Duration.Input>("postgres/events/SettlingLimit", {
  defaultValue: () => "1 second",
})

const POLL_SCHEDULE = Schedule.exponential("2 millis", 1.5)

/**
 * Reads a page of a list that is ordered by an organization's commit timestamps. A page that isn't full first waits for a timestamp in progress.
 *
 * A transaction has its timestamp before its rows are visible. At most one transaction is in this state, because it first locks the organization's
 * clock row, and the `xmax` of the visible clock row identifies it. If there is none, every later timestamp is later than that statement, so a page
 * that is read afterwards contains all rows up to the start of the read. The function takes no lock.
 *
 * A full page needs only one statement. The clock's row is read by a separate statement, because a join with the page increased
 * PostgreSQL's planning time by 60 µs, from a total of 165 to 210.
 *
 * @param page - reads at most `limit` rows after `after`
 * @param stampOf - the timestamp by which the list is ordered
 */
export const readSettled = Effect.fnUntraced(function* <Row>(
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  page: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>,
  limit: number,
  stampOf: (row: Row) => Timestamp,
  after: Timestamp,
): Effect.fn.Return<ListPage<Row>, SqlError.SqlError> {
  const rows = yield* page
  if (rows.length === limit) return { rows, isSettled: true }
  // Rows with the timestamp of the last row became visible with it. An empty page may have been read before rows with the timestamp of `after`.
  const last = rows.at(-1)
  const isNewer = last === undefined ? sql`last >= ${after}::timestamptz` : sql`last > ${stampOf(last)}::timestamptz`
  const [clock] = yield* readClock(sql, organizationId, isNewer)
  const status = clock?.writer ? yield* endOf(sql, clock.writer) : "none"
  if (status === "in progress") return { rows, isSettled: false }
  const isComplete = status !== "committed" && clock?.newer !== true
  return { rows: isComplete ? rows : yield* page, isSettled: true }
})

const decodeClock = decodeRows({ writer: Schema.NullOr(Schema.String), newer: Schema.Boolean })

/**
 * Reads the uncommitted transaction that advances the clock, and if the clock is later than the page. A standby doesn't see such a transaction.
 * The row of a committed transaction still names it as the one that locked it.
 */
const readClock = (sql: SqlClient.SqlClient, organizationId: OrganizationId, isNewer: Statement.Fragment) =>
  sql`
    select case when xmax not in ('0', xmin) then xmax::text end as writer, ${isNewer} as newer
    from organization_clock where organization_id = ${organizationId} and not pg_is_in_recovery()`.pipe(decodeClock)

const decodeStatus = decodeValue({ status: Schema.NullOr(Schema.String) })

/** Waits for the end of a recent transaction, given the lower 32 bits of its id as in `xmax`. */
const endOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, writer: string) {
  const ended = yield* sql`
    select pg_xact_status((ended + ((${writer}::bigint - ended + 2147483648) & 4294967295) - 2147483648)::text::xid8) as status
    from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as ended) recent`.pipe(
    decodeStatus,
    Effect.repeat({ schedule: POLL_SCHEDULE, until: (status) => status !== "in progress" }),
    Effect.timeoutOption(yield* SettlingLimit),
  )
  return Option.getOrElse(ended, () => "in progress")
})
