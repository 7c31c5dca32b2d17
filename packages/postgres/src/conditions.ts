import { Statement } from "effect/sql"

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
