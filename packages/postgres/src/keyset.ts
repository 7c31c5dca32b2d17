import { type Page, paginate } from "@outreach/cursor"
import { type KeysetValue, keyset as keysetOf } from "@outreach/cursor/keyset"
import { Statement } from "effect/sql"

/**
 * Defines the order of a list by its columns, and derives the conditions of its pages. A cursor contains the values of these columns.
 *
 * @example
 * const newestFirst = keyset({ finishedAt: "finished_at", id: "delivery.id" }, "desc")
 * const rows = yield* sql`select … where ${newestFirst.after(cursor)} order by ${newestFirst.order} limit ${limit + 1}`
 * const { data, next_cursor } = newestFirst.page(rows, limit)
 */
export const keyset = <Name extends string>(columns: Readonly<Record<Name, string>>, direction: "asc" | "desc") => {
  const names = Object.keys(columns).map((name) => name as Name)
  const ordered = Object.fromEntries(names.map((name) => [name, { column: columns[name], order: direction }]))
  const partsOf = (after: Readonly<Record<Name, KeysetValue>> | null | undefined) =>
    keysetOf(ordered, { after }, { placeholder: "?" })
  return {
    order: Statement.fragment([Statement.literal(partsOf(null).orderBy)]),
    /** Creates the condition that a row follows a cursor; true without a cursor. PostgreSQL converts the values to the columns' types. */
    after: (cursor: Readonly<Record<Name, KeysetValue>> | null | undefined): Statement.Fragment => {
      const { where, values } = partsOf(cursor)
      const [start = "", ...texts] = where.split("?")
      return Statement.fragment([
        Statement.literal(start),
        ...texts.flatMap((text, i) => [Statement.parameter(values[i]), Statement.literal(text)]),
      ])
    },
    /** Creates a page from rows that were read with `limit + 1`. Its cursor points to its last row; null at the end of the list. */
    page: <Row extends Readonly<Record<Name, unknown>>>(
      rows: ReadonlyArray<Row>,
      limit: number,
    ): Page<Row, Pick<Row, Name>> =>
      paginate({
        rows,
        limit,
        position: (row) => Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>,
      }),
  }
}
