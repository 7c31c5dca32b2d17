import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import type { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { type Effect, Stream } from "effect"
import type { Header } from "./readHeader.ts"
import { type Row, readRows } from "./readRows.ts"

export type FileLine = (ImportLine | BadLine) & { readonly text: string }

/** Reads the lines of an import file after its header. A missing column is empty. */
export const readLines = (header: Header, onBytes?: (bytes: number) => Effect.Effect<void>) => {
  const { file, encoding, delimiter, columnCount, npi, email, fields: columns } = header
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
    const clinician = { npi: fields[npi] ?? "", email: fields[email] ?? "" }
    return { number, text, ...clinician, ...(columns && { fields: fieldsOf(columns, fields) }) }
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

/** Returns the values of a row that are not blank. */
const fieldsOf = (columns: Header["fields"] & {}, row: ReadonlyArray<string>): RecipientFields =>
  Object.fromEntries(
    columns.flatMap(({ name, index }) => (row[index]!.trim() === "" ? [] : [[name, row[index]!] as const])),
  )

export const isBad = <Line extends ImportLine | BadLine>(line: Line): line is Line & BadLine => "reason" in line
export const isGood = <Line extends ImportLine | BadLine>(line: Line): line is Line & ImportLine => !isBad(line)
