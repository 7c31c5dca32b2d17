import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import type { Page as ListPage } from "@outreach/backoffice/lists/List"
import { Context, Effect, type Schema } from "effect"
import { COMMAND_NAME } from "../commandName.ts"
import { optional, text, wholeNumber, withDefault } from "../inputs/Input.ts"
import { formatRows, print, printToStderr } from "./Output.ts"

export class CommandLine extends Context.Reference<ReadonlyArray<string>>("ops/CommandLine", {
  defaultValue: () => [],
}) {}

/** The columns that a list continues by, with their schemas. */
export type Cursor = Readonly<Record<string, Schema.Codec<unknown, string>>>

/** The shown part of a list. */
export interface Page<C> {
  /** One more row than shown, to know whether there are more. */
  readonly limit: number
  /** The row after which the list continues; null at its start. */
  readonly after: { readonly [K in keyof C]: C[K] extends Schema.Codec<infer A, string> ? A : never } | null
}

type Row = Readonly<Record<string, unknown>>

export const limit = withDefault(wholeNumber(1, 1000, "Maximum number of rows, 1 to 1000 (default 50)"), 50)

/** The flags of every list. */
export const pageFlags = {
  limit,
  after: optional(text("Start after this row, as printed at the end of the previous page", "row")),
}

/** Prints a page of a list, and the command for the next one. */
export const printPage = Effect.fnUntraced(function* (
  { rows: data, next }: ListPage<unknown>,
  table: { readonly columns: ReadonlyArray<string>; readonly rows: ReadonlyArray<Row> },
) {
  yield* print(
    { data, hasMore: next !== null, ...(next !== null && { after: next }) },
    () => formatRows(table.rows, table.columns),
    () => csvTable(table.columns, table.rows),
  )
  if (next !== null) yield* printToStderr(`There are more: ${nextCommand(yield* CommandLine, next)}`)
})

const nextCommand = (words: ReadonlyArray<string>, after: string): string => {
  const others = words.filter(
    (word, i) => word !== "--after" && words[i - 1] !== "--after" && !word.startsWith("--after="),
  )
  return formatCommand([COMMAND_NAME, ...others, "--after", after])
}
