import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import { parseInput } from "@outreach/domain/parseInput"
import { Context, Effect, Result, type Schema } from "effect"
import { COMMAND_NAME } from "../commandName.ts"
import { optional, text, wholeNumber, withDefault } from "../inputs/Input.ts"
import { formatRows, print, printToStderr, refuse } from "./Output.ts"

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

export const parsePage = Effect.fnUntraced(function* (cursor: Cursor | undefined, limit: number, after?: string) {
  if (cursor === undefined) return { limit: Number.MAX_SAFE_INTEGER, after: null }
  if (after === undefined) return { limit: limit + 1, after: null }
  const names = Object.keys(cursor)
  // Only the last part may contain a comma.
  const parts = after.split(",")
  const texts = [...parts.slice(0, names.length - 1), parts.slice(names.length - 1).join(",")]
  const values = names.map((name, i) => parseInput(cursor[name]!)(texts[i] ?? ""))
  if (values.some(Result.isFailure)) {
    return yield* refuse("InvalidAfter", "--after is not a row as the end of this list prints it.")
  }
  return { limit: limit + 1, after: Object.fromEntries(names.map((name, i) => [name, Result.getOrThrow(values[i]!)])) }
})

/** Prints a part of a list, and the command for the next part. With a cursor, `rows` starts with the part. */
export const printPage = Effect.fnUntraced(function* (
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<string>,
  { cursor, key = columns.slice(0, 1) }: { readonly cursor?: Cursor; readonly key?: ReadonlyArray<string> },
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
) {
  const names = cursor === undefined ? key : Object.keys(cursor)
  const textOf = (row: Row) => names.map((name) => row[name]).join(",")
  const found = cursor === undefined && after !== undefined ? rows.findIndex((row) => textOf(row) === after) : -1
  if (cursor === undefined && after !== undefined && found === -1) {
    return yield* refuse("InvalidAfter", "--after is not a row of this list. It may be gone: begin without --after.")
  }
  const rest = rows.slice(found + 1)
  const data = rest.slice(0, limit)
  const next = rest.length > limit ? textOf(data.at(-1)!) : undefined
  yield* print(
    { data, hasMore: next !== undefined, ...(next !== undefined && { after: next }) },
    () => formatRows(data, columns),
    () => csvTable(columns, data),
  )
  if (next !== undefined) yield* printToStderr(`There are more: ${nextCommand(yield* CommandLine, next)}`)
})

const nextCommand = (words: ReadonlyArray<string>, after: string): string => {
  const others = words.filter(
    (word, i) => word !== "--after" && words[i - 1] !== "--after" && !word.startsWith("--after="),
  )
  return formatCommand([COMMAND_NAME, ...others, "--after", after])
}
