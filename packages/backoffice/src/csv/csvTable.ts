/** Writes rows as CSV with a header: UTC times for spreadsheets, and no formulas. */
export const csvTable = <Column extends string>(
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<{ readonly [C in Column]?: unknown }>,
): string => csvHead(columns) + rows.map((row) => csvLine(columns, row)).join("")

export const csvHead = (columns: ReadonlyArray<string>): string => csvRow(columns.map(snakeName))

export const csvLine = <Column extends string>(
  columns: ReadonlyArray<Column>,
  row: { readonly [C in Column]?: unknown },
): string => csvRow(columns.map((column) => toCell(row[column])))

const toCell = (value: unknown): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string")
  const text = isList ? value.join(" | ") : typeof value === "string" ? value : JSON.stringify(value)
  return disarmFormula(text).replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/, "$1 $2")
}

/** Renames one field to the API's snake case: `createdAt` becomes `created_at`. */
export const snakeName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Writes a row of CSV (RFC 4180). */
export const csvRow = (cells: ReadonlyArray<string | null | undefined>): string =>
  `${cells.map((cell) => (/[",\r\n]|^\s|\s$/.test(cell ?? "") ? `"${cell?.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`

/** Adds an apostrophe before a text that a spreadsheet would run as a formula (OWASP, CSV injection). */
export const disarmFormula = (text: string): string => (/^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text)
