import { Statement } from "effect/sql"
import { columnOf } from "./rowsOf.ts"

/** Joins the defined conditions with `and`; true if there are none. */
export const allOf = (...conditions: ReadonlyArray<Statement.Fragment | undefined>): Statement.Fragment =>
  Statement.and(["true", ...conditions.filter((condition) => condition !== undefined)])

/**
 * Creates the condition that columns equal the given values. Columns with an undefined value are skipped.
 *
 * @example
 * sql`select … from failure_groups where ${equal({ organization_id: filter.organizationId, status: filter.status })}`
 */
export const equal = (values: Readonly<Record<string, string | number | boolean | undefined>>): Statement.Fragment =>
  allOf(
    ...Object.entries(values).map(([column, value]) =>
      value === undefined
        ? undefined
        : Statement.fragment([Statement.literal(`${column} = `), Statement.parameter(value)]),
    ),
  )

/**
 * Creates the assignments of an `update`, each followed by a comma. Fields with an undefined value keep theirs.
 *
 * @example
 * sql`update programs set ${assigned({ senderName: changes.senderName })} updated_at = clock_timestamp() where …`
 */
export const assigned = (values: Readonly<Record<string, unknown>>): Statement.Fragment =>
  Statement.fragment(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [Statement.literal(`${columnOf(name)} = `), Statement.parameter(value), Statement.literal(", ")],
    ),
  )
