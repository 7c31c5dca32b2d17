import { Statement } from "effect/sql"

/**
 * Describes the order of a list by its columns, from which the conditions of its pages derive. A cursor holds the values of these columns.
 *
 * @example
 * const newestFirst = keyset({ finishedAt: "finished_at", id: "delivery.id" }, "desc")
 * const rows = yield* sql`select … where ${newestFirst.after(cursor)} order by ${newestFirst.order} limit ${limit + 1}`
 * const { page, next } = newestFirst.split(rows, limit)
 */
export const keyset = <Name extends string>(columns: Readonly<Record<Name, string>>, direction: "asc" | "desc") => {
  const names = Object.keys(columns).map((name) => name as Name)
  const keys = names.map((name) => columns[name])
  const comparison = Statement.literal(`(${keys.join(", ")}) ${direction === "asc" ? ">" : "<"} (`)
  const all = Statement.fragment([Statement.literal("true")])
  return {
    order: Statement.fragment([Statement.literal(keys.map((key) => `${key} ${direction}`).join(", "))]),
    /** The condition that a row stands after a cursor; true without a cursor. PostgreSQL takes the values as the columns' types. */
    after: (cursor: Readonly<Record<Name, unknown>> | null | undefined): Statement.Fragment =>
      cursor == null
        ? all
        : Statement.fragment([
            comparison,
            ...names.flatMap((name, i) => [
              ...(i > 0 ? [Statement.literal(", ")] : []),
              Statement.parameter(cursor[name]),
            ]),
            Statement.literal(")"),
          ]),
    /** Takes a page from rows that were read with `limit + 1`, and the cursor after which the list goes on; null at its end. */
    split: <Row extends Readonly<Record<Name, unknown>>>(
      rows: ReadonlyArray<Row>,
      limit: number,
    ): { readonly page: ReadonlyArray<Row>; readonly next: Pick<Row, Name> | null } => {
      const last = rows.length > limit ? rows[limit - 1] : undefined
      const next = last && (Object.fromEntries(names.map((name) => [name, last[name]])) as Pick<Row, Name>)
      return { page: rows.slice(0, limit), next: next ?? null }
    },
  }
}
