import { type ProgressBar, progressBar } from "@outreach/process/progress"
import { Console, Context, Effect } from "effect"
import { type Cell, formatCell, formatTable, snakeCase, snakeName } from "./format.ts"

/** How results are printed. With `--json` standard output holds exactly one JSON value, with the field names of the API. */
export class Output extends Context.Reference<{ readonly json: boolean }>("ops/Output", {
  defaultValue: () => ({ json: false }),
}) {}

/** Prints a value as JSON with `--json`, or else a text. */
export const print = Effect.fnUntraced(function* (value: object, text: () => string) {
  const { json } = yield* Output
  yield* Console.log(json ? JSON.stringify(snakeCase(value)) : text())
})

/** Prints a text to standard error; nothing with `--json`. */
export const printToStderr = Effect.fnUntraced(function* (text: string) {
  const { json } = yield* Output
  if (!json) yield* Console.error(text)
})

/** Shows a progress bar on standard error until the scope closes; nothing with `--json` or `quiet`. */
export const printProgress = Effect.fnUntraced(function* (
  label: string,
  total: number,
  { quiet }: { readonly quiet: boolean } = { quiet: false },
) {
  const { json } = yield* Output
  if (json || quiet) return { advance: () => Effect.void } satisfies ProgressBar
  return yield* progressBar(label, total)
})

export const printRecord = (record: object) => print(record, () => formatRecord(record))

/** Formats a record, one line for each field. */
export const formatRecord = (record: object): string =>
  formatTable(
    [],
    Object.entries(record).map(([field, value]) => [snakeName(field), formatCell(value as Cell)]),
  )

/** Formats rows as a table of some of their fields. */
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
