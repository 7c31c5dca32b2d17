import { type PageFrom, readPageFrom } from "./PageFrom.ts"

export type { PageFrom }

/** Sort direction. Nullable columns include the position of nulls; columns without it must be `not null`. */
export type Order = `${"asc" | "desc"}${"" | " nulls first" | " nulls last"}`

/** A column whose name differs from its key in the position, or whose values need a cast. */
export interface KeysetColumn {
  /** SQL identifier: `created_at`, `invoice.created_at` or `"createdAt"`. Default: the key in the position. */
  readonly column?: string | undefined
  readonly order: Order
  /**
   * PostgreSQL type in one word, such as `timestamptz`: values are sent as text and cast in the statement. Required for drivers
   * that convert time parameters to `Date`, such as postgres.js. Statements with `?` placeholders have no casts.
   */
  readonly type?: string | undefined
}

/** A value of a position. */
export type KeysetValue = string | number | bigint | boolean | Date | null

/** SQL fragments of a page query. */
export interface Keyset<Value extends KeysetValue = KeysetValue> {
  /** Condition for the rows from the page's start on. `true` at either end of the list. */
  readonly where: string
  /** Sort order. Reversed for a previous page; `paginate` restores the order. */
  readonly orderBy: string
  /** Parameter values of `where`, in order. */
  readonly values: Value[]
}

const NAME = String.raw`([A-Za-z_]\w*|"([^"\0]|"")+")`
const IDENTIFIER = new RegExp(`^${NAME}(\\.${NAME})*$`)

/**
 * Creates the condition and the order of a page for PostgreSQL and SQLite. The columns together must identify a row.
 *
 * Values are parameters: `?`, or numbered from a start such as `$2`. If all columns have one direction and no nulls follow,
 * the condition compares rows, which is one index range: `(created_at, id) > ($2, $3)`.
 *
 * Throws `TypeError` on an invalid identifier, order or placeholder, and on a position that lacks a column.
 */
export function keyset<
  Columns extends Readonly<Record<string, Order | KeysetColumn>>,
  Position extends { readonly [Name in keyof Columns]: KeysetValue },
>(
  columns: Columns,
  from: PageFrom<Position> | null | undefined,
  { placeholder }: { readonly placeholder: "?" | `$${number}` },
): Keyset<Position[keyof Columns]> {
  const { position, isBackwards } = readPageFrom(from)
  const [isPlaceholder, first] = /^(?:\?|\$([1-9]\d*))$/.exec(placeholder) ?? []
  if (!isPlaceholder) refuse("placeholder", '"?" or the first one, such as "$1"')
  const values: Position[keyof Columns][] = []

  const keys = Object.entries(columns).map(([name, given]) => {
    const { column = name, order, type } = typeof given === "string" ? { order: given } : given
    const [, direction, nulls] = /^(asc|desc)(?: nulls (first|last))?$/.exec(order) ?? []
    if (!direction) refuse(name, '"asc" or "desc", and " nulls first" or " nulls last" if it may be null')
    if (!IDENTIFIER.test(column) || !IDENTIFIER.test(type ?? column))
      refuse(name, "an identifier, and its type another")
    const value = position?.[name] as Position[keyof Columns]
    const isNull = value === null
    if (position && (isNull ? !nulls : !isValue(value)))
      refuse(name, "in the position, and not null unless its order says so")
    const isAscending = (direction === "asc") !== isBackwards
    const isNullLast = nulls !== undefined && (nulls === "last") !== isBackwards
    return {
      column,
      order: `${column} ${isAscending ? "asc" : "desc"}${nulls ? ` nulls ${isNullLast ? "last" : "first"}` : ""}`,
      sign: isAscending ? ">" : "<",
      isNull,
      isNullLast,
      parameter: (): string => {
        values.push(value)
        return first ? `$${Number(first) + values.length - 1}${type ? `::text::${type}` : ""}` : "?"
      },
    }
  })
  const leading = keys[0] ?? refuse("columns", "at least one")

  /** Whether one comparison finds all following rows. It never finds nulls, which matters if nulls come first. */
  const isRange = ({ isNull, isNullLast, sign }: typeof leading) => !isNull && !isNullLast && sign === leading.sign
  // Creates parameters in the order in which they appear in the text.
  const isBeyond = (index: number): string => {
    const { column, sign, isNull, isNullLast, parameter } = keys[index]!
    const beyond = isNull
      ? isNullLast
        ? "false"
        : `${column} is not null`
      : `${column} ${sign} ${parameter()}${isNullLast ? ` or ${column} is null` : ""}`
    return keys[index + 1]
      ? `${beyond} or ${column} ${isNull ? "is null" : `= ${parameter()}`} and (${isBeyond(index + 1)})`
      : beyond
  }
  // An index can serve only the range of the first column of an `or` condition.
  const range = () => (isRange(leading) ? `${leading.column} ${leading.sign}= ${leading.parameter()} and ` : "")
  const list = (part: (key: typeof leading) => string) => keys.map(part).join(", ")
  const isRowBeyond = () => `(${list((key) => key.column)}) ${leading.sign} (${list((key) => key.parameter())})`
  return {
    where: !position ? "true" : keys.every(isRange) ? isRowBeyond() : `(${range()}(${isBeyond(0)}))`,
    orderBy: list((key) => key.order),
    values,
  }
}

function isValue(value: unknown): boolean {
  return value instanceof Date || (/^(string|number|bigint|boolean)$/.test(typeof value) && !Number.isNaN(value))
}

function refuse(name: string, must: string): never {
  throw new TypeError(`${name} must be ${must}`)
}
