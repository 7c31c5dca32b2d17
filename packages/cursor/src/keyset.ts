import type { KeysetValue, Order, OrderedColumn, PositionOf } from "./keysetClauses.ts"
import { type Clauses, type Dialect, identifier, type KeysetColumns, keysetClauses, refuse } from "./keysetClauses.ts"
import type { PageFrom } from "./PageFrom.ts"

export type { Clauses, Dialect, KeysetColumns, KeysetValue, Order, OrderedColumn, PageFrom, PositionOf }

/** A column with a different name than its key in the position, a computed column, or a column with values that need a cast. */
export interface KeysetColumn extends OrderedColumn {
  /** SQL identifier: `created_at`, `invoice.created_at`, `"createdAt"`, or `` `createdAt` `` for MySQL. Default: the key in the position. */
  readonly column?: string | undefined
  /** Trusted SQL expression in place of a column, such as `lower(name)`. Never accept it from a request. */
  readonly sql?: string | undefined
}

/** SQL fragments of a page query. */
export interface Keyset<Value extends KeysetValue = KeysetValue> extends Clauses {
  /** Parameter values of `where`, in order. */
  readonly values: Value[]
}

/**
 * Creates the condition and the order of a page for PostgreSQL, SQLite, MySQL and SQL Server. The columns together must identify a row.
 *
 * Values are parameters. In PostgreSQL and SQLite, if all columns have one direction and no nulls follow, the condition compares
 * rows, which is one index range: `(created_at, id) > ($2, $3)`.
 *
 * Throws `TypeError` on an invalid identifier, order, placeholder or dialect, and on a position that lacks a column.
 */
export function keyset<Columns extends KeysetColumns<KeysetColumn>, Position extends PositionOf<Columns>>(
  columns: Columns,
  from: PageFrom<Position> | null | undefined,
  {
    placeholder,
    dialect: given,
  }: {
    /** `?`, or the first number: `$2` for PostgreSQL, `@p2` for SQL Server. */
    readonly placeholder: "?" | `$${number}` | `@p${number}`
    /** Default: `sqlite` for `?`, `postgresql` for `$1`, `mssql` for `@p1`. Set it to `mysql` for MySQL and MariaDB. */
    readonly dialect?: Dialect | undefined
  },
): Keyset<Position[keyof Columns]> {
  const [isPlaceholder, prefix, first] = /^(?:\?|(\$|@p)([1-9]\d*))$/.exec(placeholder) ?? []
  if (!isPlaceholder) refuse("placeholder", '"?", or the first one, such as "$1" or "@p1"')
  const dialect = given ?? (prefix === undefined ? "sqlite" : prefix === "$" ? "postgresql" : "mssql")
  const values: Position[keyof Columns][] = []
  const clauses = keysetClauses<KeysetColumn>(columns, from, dialect, {
    column: (name, { column = name, sql }) => (sql === undefined ? identifier(name, column, dialect) : `(${sql})`),
    parameter: (value) => {
      values.push(value as Position[keyof Columns])
      return first ? `${prefix}${Number(first) + values.length - 1}` : "?"
    },
  })
  return { ...clauses, values }
}
