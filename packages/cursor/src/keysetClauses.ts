import { type PageFrom, readPageFrom } from "./PageFrom.ts"

/** Sort direction. Nullable columns include the position of nulls; columns without it must be `not null`. */
export type Order = `${"asc" | "desc"}${"" | " nulls first" | " nulls last"}`

/** The database of a statement. `mysql` includes MariaDB. */
export type Dialect = "postgresql" | "sqlite" | "mysql" | "mssql"

/** A value of a position. */
export type KeysetValue = string | number | bigint | boolean | Date | null

/** A sort column, however it is named. */
export interface OrderedColumn {
  readonly order: Order
  /**
   * PostgreSQL type in one word, such as `timestamptz`: values are sent as text and cast in the statement. Required for drivers
   * that convert time parameters to `Date`, such as postgres.js. Statements of other databases have no casts.
   */
  readonly type?: string | undefined
}

/** Sort columns by their key in the position. */
export type KeysetColumns<Column> = Readonly<Record<string, Order | Column>>
/** A position with a value for each column. */
export type PositionOf<Columns> = { readonly [Name in keyof Columns]: KeysetValue }

/** The clauses of a page query: text, or fragments of a query builder. */
export interface Clauses<Where = string, OrderBy = Where> {
  /** Condition for the rows from the page's start on. True at either end of the list. */
  readonly where: Where
  /** Sort order. Reversed for a previous page; `paginate` restores the order. */
  readonly orderBy: OrderBy
}

const NAME = String.raw`([A-Za-z_]\w*|"([^"\0]|"")+")`
const IDENTIFIER = new RegExp(`^${NAME}(\\.${NAME})*$`)
const MYSQL_IDENTIFIER = new RegExp(IDENTIFIER.source.replaceAll('"', "`"))

/** Returns an identifier. Throws `TypeError` if the text isn't one. */
export function identifier(name: string, text: string, dialect: Dialect): string {
  if (!(dialect === "mysql" ? MYSQL_IDENTIFIER : IDENTIFIER).test(text))
    refuse(name, "an identifier, and its type another")
  return text
}

/**
 * Writes the condition of a page, and then its order. Calls `write` in the order in which the columns and parameters appear in the text.
 *
 * Throws `TypeError` on an invalid order, type or dialect, and on a position that lacks a column.
 */
export function keysetClauses<Column extends OrderedColumn>(
  columns: KeysetColumns<Column>,
  from: PageFrom<PositionOf<Record<string, unknown>>> | null | undefined,
  dialect: Dialect,
  write: {
    readonly column: (name: string, column: Column) => string
    readonly parameter: (value: KeysetValue, column: Column) => string
  },
): Clauses {
  if (!/^(postgresql|sqlite|mysql|mssql)$/.test(dialect)) refuse("dialect", "postgresql, sqlite, mysql or mssql")
  const { position, isBackwards } = readPageFrom(from)
  // MySQL compares rows too, but doesn't read a range of an index for it.
  const isStandard = dialect === "postgresql" || dialect === "sqlite"
  const [always, never] = dialect === "mssql" ? ["1 = 1", "1 = 0"] : ["true", "false"]

  const keys = Object.entries(columns).map(([name, given]) => {
    const key = (given && typeof given === "object" ? given : { order: given }) as Column
    const [, direction, nulls] = /^(asc|desc)(?: nulls (first|last))?$/.exec(key.order) ?? []
    if (!direction) refuse(name, '"asc" or "desc", and " nulls first" or " nulls last" if it may be null')
    const type = key.type === undefined ? "" : identifier(name, key.type, "postgresql")
    const value = position?.[name] as KeysetValue
    const isNull = value === null
    if (position && (isNull ? !nulls : !isValue(value)))
      refuse(name, "in the position, and not null unless its order says so")
    const isAscending = (direction === "asc") !== isBackwards
    const isNullLast = nulls !== undefined && (nulls === "last") !== isBackwards
    const column = (): string => write.column(name, key)
    return {
      column,
      order: (): string => {
        const order = `${column()} ${isAscending ? "asc" : "desc"}`
        if (!nulls) return order
        if (isStandard) return `${order} nulls ${isNullLast ? "last" : "first"}`
        // For MySQL and SQL Server, null is the lowest value.
        return isNullLast === isAscending
          ? `case when ${column()} is null then ${+isNullLast} else ${+!isNullLast} end, ${order}`
          : order
      },
      sign: isAscending ? ">" : "<",
      isNull,
      isNullLast,
      parameter: (): string =>
        write.parameter(value, key) + (type && dialect === "postgresql" ? `::text::${type}` : ""),
    }
  })
  const leading = keys[0] ?? refuse("columns", "at least one")

  /** Whether one comparison finds all following rows. It never finds nulls, which matters if nulls come first. */
  const isRange = ({ isNull, isNullLast, sign }: typeof leading) => !isNull && !isNullLast && sign === leading.sign
  // Writes the parts in the order in which they appear in the text.
  const isBeyond = (index: number): string => {
    const { column, sign, isNull, isNullLast, parameter } = keys[index]!
    const beyond = isNull
      ? isNullLast
        ? never
        : `${column()} is not null`
      : `${column()} ${sign} ${parameter()}${isNullLast ? ` or ${column()} is null` : ""}`
    return keys[index + 1]
      ? `${beyond} or ${column()} ${isNull ? "is null" : `= ${parameter()}`} and (${isBeyond(index + 1)})`
      : beyond
  }
  // An index can serve only the range of the first column of an `or` condition.
  const range = () =>
    keys[1] && isRange(leading) ? `${leading.column()} ${leading.sign}= ${leading.parameter()} and ` : ""
  const list = (part: (key: typeof leading) => string) => keys.map(part).join(", ")
  const isRowBeyond = () => `(${list((key) => key.column())}) ${leading.sign} (${list((key) => key.parameter())})`
  return {
    where: !position ? always! : isStandard && keys.every(isRange) ? isRowBeyond() : `(${range()}(${isBeyond(0)}))`,
    orderBy: list((key) => key.order()),
  }
}

function isValue(value: unknown): boolean {
  return value instanceof Date || (/^(string|number|bigint|boolean)$/.test(typeof value) && !Number.isNaN(value))
}

/** Throws a `TypeError` that names the argument and its rule. */
export function refuse(name: string, must: string): never {
  throw new TypeError(`${name} must be ${must}`)
}
