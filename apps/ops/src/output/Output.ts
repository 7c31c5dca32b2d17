import { Console, Context, Effect } from "effect"
import { type Cell, formatCell } from "./formatCell.ts"
import { formatTable } from "./formatTable.ts"
import { snakeCase, snakeName } from "./snakeCase.ts"

/** How answers are printed: `--json` asks for exactly one JSON value on standard output, in the names of the wire. */
export class Output extends Context.Reference<{ readonly json: boolean }>("ops/Output", {
  defaultValue: () => ({ json: false }),
}) {}

/** Prints one JSON value, or a text for people. */
export const print = Effect.fnUntraced(function* (value: object, text: () => string) {
  const { json } = yield* Output
  yield* Console.log(json ? JSON.stringify(snakeCase(value)) : text())
})

/** Prints a word to people on standard error; nothing with `--json`. */
export const remark = Effect.fnUntraced(function* (text: string) {
  const { json } = yield* Output
  if (!json) yield* Console.error(text)
})

/** Prints one thing, a line for each of its fields. */
export const printRecord = (record: object) => print(record, () => formatRecord(record))

/** Lays out one thing, a line for each of its fields. */
export const formatRecord = (record: object): string =>
  formatTable(
    [],
    Object.entries(record).map(([field, value]) => [snakeName(field), formatCell(value as Cell)]),
  )

/** Prints things as `{"data": […]}`, or as a table of some of their fields. */
export const printList = <Row extends object>(rows: ReadonlyArray<Row>, fields: ReadonlyArray<keyof Row & string>) =>
  print({ data: rows }, () => formatRows(rows, fields))

/** Prints the first `limit` of what was read with `limit + 1`, and says whether there is more. */
export const printPage = Effect.fnUntraced(function* <Row extends object>(
  rows: ReadonlyArray<Row>,
  limit: number,
  fields: ReadonlyArray<keyof Row & string>,
) {
  const data = rows.slice(0, limit)
  const hasMore = rows.length > limit
  yield* print({ data, hasMore }, () => formatRows(data, fields))
  if (hasMore) yield* remark(`There are more than these ${limit}. See --limit.`)
})

/** Lays out things as a table of some of their fields. */
export const formatRows = <Row extends object>(
  rows: ReadonlyArray<Row>,
  fields: ReadonlyArray<keyof Row & string>,
): string =>
  rows.length === 0
    ? "None."
    : formatTable(
        fields.map(snakeName),
        rows.map((row) => fields.map((field) => formatCell(row[field] as Cell))),
      )
