import { Struct } from "effect"
import { Statement } from "effect/sql"
import { columnOf } from "./rowsOf.ts"

/**
 * Converts values to a table for a statement: one array per named field, in the column of the same name, and optionally the
 * row number, from 1, in the column `position`.
 *
 * @example
 * sql`select … from ${toTable("lease", leases, { organizationId: "text", recipientId: "text" })} join …`
 * // unnest($1::text[], $2::text[]) as lease (organization_id, recipient_id)
 */
export const toTable = <Field extends string>(
  name: string,
  rows: ReadonlyArray<{ readonly [Name in NoInfer<Field>]: unknown }>,
  types: { readonly [Name in Field]: "text" | "int" | "bigint" | "float8" | "bool" | "uuid" | "timestamptz" },
  position?: string,
): Statement.Fragment => {
  const fields = Struct.keys(types)
  const columns = [...fields.map(columnOf), ...(position === undefined ? [] : [position])].join(", ")
  return Statement.fragment([
    Statement.literal("unnest("),
    ...fields.flatMap((field, i) => [
      Statement.parameter(rows.map((row) => row[field])),
      Statement.literal(`::${types[field]}[]${i < fields.length - 1 ? ", " : ""}`),
    ]),
    Statement.literal(`)${position === undefined ? "" : " with ordinality"} as ${name} (${columns})`),
  ])
}
