import { csvTable, snakeName } from "@outreach/backoffice/csv/csvTable"
import { INVISIBLE } from "@outreach/backoffice/format"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import type { Cell, Checks, Part } from "@outreach/backoffice/operations/Operation"
import { hiddenProgress, TaskProgress } from "@outreach/backoffice/TaskProgress"
import { progressBar, progressLine } from "@outreach/process/progress"
import { Console, Context, Effect } from "effect"
import { CliOutput } from "effect/cli"

export const OUTPUT_FORMS = ["table", "json", "csv"] as const

/** The output format of `--output`. With `json`, standard output is exactly one JSON value, with the field names of the API. */
export class Output extends Context.Reference<(typeof OUTPUT_FORMS)[number]>("ops/Output", {
  defaultValue: () => "table",
}) {}

/** The words after `ops`. */
export class CommandLine extends Context.Reference<ReadonlyArray<string>>("ops/CommandLine", {
  defaultValue: () => [],
}) {}

/** Prints a value as JSON, or its parts as text or CSV: default its fields. */
export const printParts = Effect.fnUntraced(function* (
  value: object,
  parts: ReadonlyArray<Part> = [{ fields: value }],
) {
  const output = yield* Output
  const csv = () => toCsv(value, parts).trimEnd()
  yield* Console.log(output === "json" ? toJson(value) : output === "csv" ? csv() : toVisible(formatParts(parts)))
})

/** Replaces characters in a partner's text that control a terminal, or make it look like another one. */
export const toVisible = (text: string): string => text.replaceAll(INVISIBLE, "\uFFFD")

/** Writes a value as JSON, with escapes for invisible characters. */
export const toJson = (value: object): string =>
  JSON.stringify(snakeCase(value)).replaceAll(INVISIBLE, (character) =>
    [...Array(character.length).keys()]
      .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, "0")}`)
      .join(""),
  )

/** Writes the only part as CSV if it has rows, otherwise the value's fields as two columns. */
const toCsv = (value: object, [part, ...others]: ReadonlyArray<Part>): string => {
  if (others.length === 0 && typeof part === "object" && "checks" in part) {
    return csvTable(["check", "status", "found", "advice", "command"], part.checks)
  }
  if (others.length === 0 && typeof part === "object" && "table" in part) {
    const { head, rows } = part.table
    const toRow = (cells: ReadonlyArray<Cell>) => Object.fromEntries(head.map((name, i) => [name, cells[i]]))
    return csvTable(head, rows.map(toRow))
  }
  const fields = Object.entries(value).map(([field, value]) => ({ field: snakeName(field), value: snakeCase(value) }))
  return csvTable(["field", "value"], fields)
}

/** Prints a text to standard error, but not with JSON output. */
export const printToStderr = Effect.fnUntraced(function* (text: string) {
  if ((yield* Output) !== "json") yield* Console.error(toVisible(text))
})

/** Shows the progress of a task on standard error, but not with JSON output or `quiet`. */
export const showingProgress =
  (quiet = false) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Output, (output) =>
      Effect.provideService(effect, TaskProgress, {
        warn: printToStderr,
        ...(quiet || output === "json" ? hiddenProgress : { say: printToStderr, bar: progressBar, line: progressLine }),
      }),
    )

const formatParts = (parts: ReadonlyArray<Part>): string => parts.map(formatPart).join("\n\n")

const formatPart = (part: Part): string => {
  if (typeof part === "string") return part
  if ("checks" in part) {
    return part.checks.map(formatFinding).join("\n")
  }
  if ("fields" in part) {
    return formatTable(
      [],
      Object.entries(part.fields).map(([field, value]) => [snakeName(field), value as Cell]),
    )
  }
  const { title, head, rows } = part.table
  return `${title === undefined ? "" : `${title}\n`}${rows.length === 0 ? "None." : formatTable(head, rows)}`
}

/** Formats rows in aligned columns, without lines or colours, so that `awk` can read them. */
const formatTable = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Cell>>): string => {
  const formatted = rows.map((cells) => cells.map(formatCell))
  const lines = head.length === 0 ? formatted : [head, ...formatted]
  const widths = lines.reduce<ReadonlyArray<number>>(
    (widest, cells) => cells.map((cell, column) => Math.max(widest[column] ?? 0, widthOf(cell))),
    [],
  )
  const pad = (cell: string, column: number) => cell + " ".repeat(widths[column]! - widthOf(cell))
  return lines.map((cells) => cells.map(pad).join("  ").trimEnd()).join("\n")
}

// Measuring graphemes takes a hundred times as long, and few cells need it.
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : CliOutput.displayWidth(text))

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/

/** Formats a value for people, on one line. */
export const formatCell = (value: Cell): string => {
  if (value === null) return "–"
  if (typeof value === "boolean") return value ? "yes" : "no"
  const text = Array.isArray(value) ? value.join(", ") : String(value)
  return text.replace(TIMESTAMP, "$1 $2 UTC").replaceAll(/\p{Cc}/gu, "\uFFFD")
}

const formatFinding = ({ check, status, found, advice, command }: Checks["checks"][number]): string => {
  const run = command && `Run \`${formatCommand(["ops", ...command])}\`.`
  const texts = [check && `${check}:`, found, advice, run].filter((text) => text != null)
  return formatCell(`${status.padEnd(7)}  ${texts.join(" ")}`)
}

/** Renames the fields of a value, at every depth, to the API's snake case. */
export const snakeCase = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [snakeName(field), snakeCase(inner)]))
}
