import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { type Effect, Stream } from "effect"
import type { Header } from "./readHeader.ts"
import { type Row, readRows } from "./readRows.ts"
import { type Cell, readEmail, readField, readNpi } from "./spreadsheetCells.ts"

export type FileLine = (ImportLine | BadLine) & {
  readonly text: string
  /** What was taken off its cells, and what is doubtful. */
  readonly remarks?: ReadonlyArray<string>
}

/** Reads the lines of an import file after its header. A missing column is empty. */
export const readLines = (header: Header, onBytes?: (bytes: number) => Effect.Effect<void>) => {
  const { file, encoding, delimiter, columnCount, npi, email, fields: columns, needsBoth } = header
  // NPIs and addresses never contain a line end.
  const isWhole = (fields: ReadonlyArray<string>): boolean =>
    fields.length === columnCount && !/[\r\n]/.test(`${fields[npi] ?? ""}${fields[email] ?? ""}`)
  const [unreadable, written] =
    encoding === "windows-1252" ? [UNDEFINED_BYTES, "Windows-1252"] : [REPLACED, encoding.toUpperCase()]
  const toLine = ({ number, text, fields }: Row): FileLine => {
    if (unreadable.test(text)) {
      const what = text.includes("\0")
        ? "a NUL byte"
        : `bytes that are not ${written}, as the file is; save it as UTF-8`
      return { number, text, reason: `the line has ${what}` }
    }
    if (fields === undefined) return { number, text, reason: "the line has a quote that does not pair" }
    if (fields.length !== columnCount)
      return { number, text, reason: `the line has ${fields.length} fields and the header ${columnCount}` }
    const [npiCell, emailCell] = [readNpi(fields[npi] ?? ""), readEmail(fields[email] ?? "")]
    const values = columns?.flatMap(({ name, index }) => {
      const value = fields[index]!
      return value.trim() === "" ? [] : [[name, readField(name, value)] as const]
    })
    const cells: ReadonlyArray<Cell> = [npiCell, emailCell, ...(values ?? []).map(([, cell]) => cell)]
    const reason =
      cells.find((cell) => cell.reason !== undefined)?.reason ?? (needsBoth ? lackOf(npiCell, emailCell) : undefined)
    if (reason !== undefined) return { number, text, reason }
    const remarks = cells.flatMap(({ remark = [] }) => remark)
    const line = { number, text, npi: npiCell.value, email: emailCell.value, ...(remarks.length > 0 && { remarks }) }
    return values === undefined
      ? line
      : { ...line, fields: Object.fromEntries(values.map(([name, { value }]) => [name, value])) }
  }
  return readRows(file, { encoding, delimiter, isWhole, onBytes }).pipe(
    Stream.filter(({ number }) => number > header.line),
    Stream.map(toLine),
  )
}

/** A replacement character means bytes that the encoding does not have. */
const REPLACED = /[\0\uFFFD]/
/** What Windows-1252 leaves undefined decodes to control characters. */
const UNDEFINED_BYTES = /[\0\x81\x8D\x8F\x90\x9D]/

const lackOf = (npi: Cell, email: Cell): string | undefined =>
  npi.value === "" ? "the line has no NPI" : email.value === "" ? "the line has no e-mail address" : undefined

export const isBad = <Line extends ImportLine | BadLine>(line: Line): line is Line & BadLine => "reason" in line
export const isGood = <Line extends ImportLine | BadLine>(line: Line): line is Line & ImportLine => !isBad(line)
