import type { OrganizationId } from "@outreach/domain/Identifier"
import type { ListPage } from "@outreach/domain/ListPage"
import { Context, type Duration, Effect, Option, Schedule, Schema } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { decodeValue } from "../rowsOf.ts"

/** How long a page waits for a timestamp under way. */
export const SettlingLimit = Context.Reference<Duration.Input>("postgres/events/SettlingLimit", {
  defaultValue: () => "1 second",
})

const LOOK_AGAIN = Schedule.exponential("2 millis", 1.5)

/**
 * Reads a page of a list that is ordered by an organization's commit timestamps. A page that is not full has waited for a timestamp under way.
 *
 * A transaction has its timestamp before its rows are seen. Only one has, because it holds the row of the organization's clock, and the
 * `xmax` of the row that a statement sees names it. Without one, every later timestamp is later than the statement's snapshot. So a list that
 * was read to its end misses nothing of the time before the reading began. No lock is taken.
 *
 * @param page - selects at most `limit` rows, whose first column is never null
 * @param toRow - makes a row of the values of a page's columns; one more value follows
 */
export const readSettled = Effect.fnUntraced(function* <Row>(
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  page: Statement.Fragment,
  limit: number,
  toRow: (values: ReadonlyArray<unknown>) => Row,
): Effect.fn.Return<ListPage<Row>, SqlError.SqlError> {
  // Joined to one row, the page keeps its order, and an empty page has a row, too.
  const statement = sql`
    select page.*, writer from (
      select (
        select xmax::text from organization_clock
        where organization_id = ${organizationId} and xmax <> '0' and not pg_is_in_recovery()
      ) as writer
    ) clock left join (${page}) page on true`.values
  const rowsOf = (values: ReadonlyArray<ReadonlyArray<unknown>>) =>
    values.length === 1 && values[0]![0] === null ? [] : values.map(toRow)

  const values = yield* statement
  const rows = rowsOf(values)
  const writer = values.at(-1)?.at(-1) as string | null | undefined
  if (rows.length === limit || !writer) return { rows, isSettled: true }
  const ended = yield* statusOf(sql, writer).pipe(
    Effect.repeat({ schedule: LOOK_AGAIN, until: (status) => status !== "in progress" }),
    Effect.timeoutOption(yield* SettlingLimit),
  )
  if (Option.isNone(ended)) return { rows, isSettled: false }
  return { rows: ended.value === "aborted" ? rows : rowsOf(yield* statement), isSettled: true }
})

const decodeStatus = decodeValue({ status: Schema.NullOr(Schema.String) })

/** Returns the status of a recent transaction by the lower half of its number, which is all that a row keeps. */
const statusOf = (sql: SqlClient.SqlClient, writer: string) =>
  sql`
    select pg_xact_status((ended + ((${writer}::bigint - ended + 2147483648) & 4294967295) - 2147483648)::text::xid8) as status
    from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as ended) recent`.pipe(decodeStatus)
