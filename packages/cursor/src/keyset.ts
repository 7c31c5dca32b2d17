import { type PageFrom, readPageFrom } from "./PageFrom.ts"

export type { PageFrom }

/** A direction in SQL's words. A column that may be null says where its nulls stand; one that does not is `not null`. */
export type Order = `${"asc" | "desc"}${"" | " nulls first" | " nulls last"}`

/** A column that has another name in the statement than in the position, or whose values are cast. */
export interface KeysetColumn {
  /** An SQL identifier: `created_at`, `invoice.created_at` or `"createdAt"`. Default: its name in the position. */
  readonly column?: string | undefined
  readonly order: Order
  /**
   * PostgreSQL's type in one word, such as `timestamptz`: values are sent as text, and cast there. A driver needs it that makes a
   * `Date` of each time that it sends, as postgres.js does. A statement with `?` has no casts.
   */
  readonly type?: string | undefined
}

/** A value of a position. */
export type KeysetValue = string | number | bigint | boolean | Date | null

/** The parts of a statement that reads a page. */
export interface Keyset<Value extends KeysetValue = KeysetValue> {
  /** The condition that a row is on the page or beyond; `true` where a page begins at an end of the list. */
  readonly where: string
  /** The order in which the page is read; of a previous page the reverse, which `paginate` turns around. */
  readonly orderBy: string
  /** The values of the parameters in `where`, in their order. */
  readonly values: Value[]
}

const NAME = String.raw`([A-Za-z_]\w*|"([^"\0]|"")+")`
const IDENTIFIER = new RegExp(`^${NAME}(\\.${NAME})*$`)

/**
 * Makes the condition and the order of a page, for PostgreSQL and SQLite. The columns, in their order, must tell any two rows apart.
 *
 * Values are parameters: `?`, or numbered from the first one on, such as `$2`. Where all columns run in one direction and no null
 * follows, rows are compared, which is one range of an index: `(created_at, id) > ($2, $3)`.
 *
 * Throws `TypeError` on what is not an identifier, an order or a placeholder, and on a position without a value of a column.
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

  /** Whether a comparison finds all rows that are beyond: a null is never found, as it must be where nulls come first. */
  const isRange = ({ isNull, isNullLast, sign }: typeof leading) => !isNull && !isNullLast && sign === leading.sign
  // Parameters are made in the order in which they are written.
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
  // The range of the first column is what an index can answer of a condition with "or".
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
