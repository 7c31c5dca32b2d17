import type { OrderedColumn } from "./keysetClauses.ts"
import {
  type Clauses,
  type Dialect,
  type KeysetColumns,
  keysetClauses,
  type PositionOf,
  refuse,
} from "./keysetClauses.ts"
import type { PageFrom } from "./PageFrom.ts"

/** A column of a query builder, a computed column, or a column with values that need a cast. */
export interface BuilderColumn extends OrderedColumn {
  /**
   * Column or expression of the builder, such as `invoices.createdAt` or `` sql`lower(${invoices.name})` ``, without an alias.
   * With Kysely also a reference such as `invoice.createdAt`, by default the key in the position.
   */
  readonly column?: string | object | undefined
}

/** The `sql` tag of Kysely or Drizzle, as far as `builderKeyset` uses it. */
export interface SqlTag<Fragment> {
  (strings: TemplateStringsArray, ...parts: unknown[]): Fragment
  /** Kysely's: quotes a reference. */
  readonly ref?: (reference: string) => unknown
  /** Drizzle's: encodes a value like its column. */
  readonly param?: (value: unknown, encoder?: never) => unknown
}

/**
 * Creates the condition and the order of a page as fragments for `where` and `orderBy` of Kysely or Drizzle.
 *
 * The builder quotes the columns and numbers the parameters. Throws `TypeError` on an invalid column, order, type or dialect, and on
 * a position that lacks a column.
 */
export function builderKeyset<
  Columns extends KeysetColumns<BuilderColumn>,
  Position extends PositionOf<Columns>,
  Fragment,
>(
  columns: Columns,
  from: PageFrom<Position> | null | undefined,
  { sql, dialect }: { readonly sql: SqlTag<Fragment>; readonly dialect: Dialect },
): Clauses<Fragment & { readonly expressionType: boolean | undefined }, Fragment> {
  const parts: unknown[] = []
  // Types, the only text of the caller in the clauses, can't contain a zero character.
  const mark = (part: unknown): string => `${parts.push(part) && "\0"}`
  const { where, orderBy } = keysetClauses<BuilderColumn>(columns, from, dialect, {
    column: (name, { column = name }) =>
      mark(typeof column === "object" ? column : (sql.ref?.(column) ?? refuse(name, "a column of the query builder"))),
    parameter: (value, { column }) =>
      mark(sql.param ? sql.param(value, ("mapToDriverValue" in Object(column) ? column : undefined) as never) : value),
  })
  const fragment = (clause: string) => {
    const strings = clause.split("\0")
    return sql(Object.assign(strings, { raw: strings }), ...parts.splice(0, strings.length - 1)) as never
  }
  return { where: fragment(where), orderBy: fragment(orderBy) }
}
