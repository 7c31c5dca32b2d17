import type { Finding } from "@outreach/domain/operators/Finding"
import { snakeName } from "../csv/csvTable.ts"

export type Cell = string | number | boolean | null | ReadonlyArray<string>

/** Rows in columns, below a title. */
export interface Table {
  readonly head: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<Cell>>
  readonly title?: string | undefined
}

/** The results of checks, optionally with their names. */
export interface Checks {
  readonly checks: ReadonlyArray<Finding & { readonly check?: string }>
}

/** A part of a result as a command shows it: a text, a table, the results of checks, or the fields of an object. */
export type Part = string | { readonly table: Table } | Checks | { readonly fields: object }

/** Returns a table of these fields of rows. */
export const rowsPart = <Row extends object>(
  rows: ReadonlyArray<Row>,
  fields: ReadonlyArray<keyof Row & string>,
  title?: string,
): Part => ({
  table: { head: fields.map(snakeName), rows: rows.map((row) => fields.map((field) => row[field] as Cell)), title },
})
