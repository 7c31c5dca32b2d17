import { csvRow, disarmFormula } from "./csvRow.ts"

type Value = string | number | null | ReadonlyArray<string>

/** Writes rows as CSV with a header: times in UTC as spreadsheets read them, and no text as a formula. */
export const csvTable = <Column extends string>(
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<{ readonly [C in Column]: Value }>,
): string =>
  [columns.map(snakeName), ...rows.map((row) => columns.map((column) => toCell(row[column])))].map(csvRow).join("")

const toCell = (value: Value): string | null => {
  if (value === null || typeof value === "number") return value === null ? null : String(value)
  const text = typeof value === "string" ? value : value.join(" | ")
  return disarmFormula(text).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/, "$1 $2")
}

const snakeName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
