import type { Finding } from "@outreach/domain/operators/Finding"
import { CliOutput } from "effect/cli"

/** Formats rows in aligned columns, without lines or colours, so that `awk` can read them. */
export const formatTable = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = head.length === 0 ? rows : [head, ...rows]
  const widths = lines.reduce<ReadonlyArray<number>>(
    (widest, cells) => cells.map((cell, column) => Math.max(widest[column] ?? 0, widthOf(cell))),
    [],
  )
  const pad = (cell: string, column: number) => cell + " ".repeat(widths[column]! - widthOf(cell))
  return lines.map((cells) => cells.map(pad).join("  ").trimEnd()).join("\n")
}

// Measuring graphemes takes a hundred times as long, and few cells need it.
const widthOf = (text: string): number => (/^[ -~]*$/.test(text) ? text.length : CliOutput.displayWidth(text))

export type Cell = string | number | boolean | null | ReadonlyArray<string>

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/

/** Formats a value for people. Replaces control characters, which a partner may have sent to steer the terminal. */
export const formatCell = (value: Cell): string => {
  if (value === null) return "–"
  if (typeof value === "boolean") return value ? "yes" : "no"
  const text = Array.isArray(value) ? value.join(", ") : String(value)
  return text.replace(TIMESTAMP, "$1 $2 UTC").replaceAll(/\p{Cc}/gu, "\uFFFD")
}

/** Formats a finding as a line: its status, its title, what was found, and the advice. */
export const formatFinding = (title: string, { status, found, advice }: Finding): string =>
  formatCell(`${status.padEnd(7)}  ${title}${found}${advice === null ? "" : ` ${advice}`}`)

export const numbers = new Intl.NumberFormat("en-US")

/** Formats a count with its noun: `1 dead letter`, `1,200 dead letters`. */
export const formatCount = (count: number, one: string): string =>
  `${numbers.format(count)} ${count === 1 ? one : `${one}s`}`

/** Renames the fields of a value, at every depth, to the API's snake case. */
export const snakeCase = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(snakeCase)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [snakeName(field), snakeCase(inner)]))
}

/** Renames one field: `createdAt` becomes `created_at`. */
export const snakeName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
