import type { Schema } from "effect"

/**
 * Derives from an entity's schema the columns of its table, and how their values become an entity.
 *
 * The values are not decoded: that would take a quarter of the time of a page of 100, so `rowsOf.test.ts` compares the schema with the table.
 * The function is compiled, because a loop over the names takes five times as long.
 */
export const rowsOf = <Fields extends Schema.Struct.Fields>(entity: Schema.Struct<Fields>) => {
  const names = Object.keys(entity.fields)
  return {
    /** For a select list, each with the name of its field, in the order in which `fromValues` reads them. */
    columns: names.map((name) => `${columnOf(name)} as "${name}"`).join(", "),
    fromValues: new Function("values", `return { ${names.map((name, i) => `${name}: values[${i}]`).join(", ")} }`) as (
      values: ReadonlyArray<unknown>,
    ) => Schema.Struct<Fields>["Type"],
  }
}

/** Returns the name of a field's column: `createdAt` is kept in `created_at`. */
export const columnOf = (name: string): string => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)
