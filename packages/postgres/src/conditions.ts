import { Statement } from "effect/sql"

/** Joins the conditions that are defined with `and`; true if none is. */
export const allOf = (...conditions: ReadonlyArray<Statement.Fragment | undefined>): Statement.Fragment =>
  Statement.and(["true", ...conditions.filter((condition) => condition !== undefined)])

/**
 * The condition that columns equal the values that are given for them; a column without a value is not compared.
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
