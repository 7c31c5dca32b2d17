import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
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
  const bytes = `bytes that are not ${encoding.toUpperCase()}, as the file is; save it as UTF-8`
  const toLine = ({ number, text, fields }: Row): FileLine => {
    if (text.includes("\0")) return { number, text, reason: "the line has a NUL byte" }
    if (UNREADABLE.test(text)) return { number, text, reason: `the line has ${bytes}` }
    if (fields === undefined) return { number, text, reason: "the line has a quote that does not pair" }
    if (fields.length !== columnCount)
      return { number, text, reason: `the line has ${fields.length} fields and the header ${columnCount}` }
    const cells = fields.map(rearmFormula)
    const filled = columns?.filter(({ index }) => cells[index]!.trim() !== "")
    const given = filled && { fields: Object.fromEntries(filled.map(({ name, index }) => [name, cells[index]!])) }
    return { number, text, npi: cells[npi] ?? "", email: cells[email] ?? "", ...given }
  }
  return readRows(file, { encoding, delimiter, isWhole, onBytes }).pipe(
    Stream.filter(({ number }) => number > header.line),
    Stream.map(toLine),
  )
}

/** A replacement character, or a control character decoded from an undefined byte of Windows-1252. */
const UNREADABLE = /[\uFFFD\x81\x8D\x8F\x90\x9D]/

/** Removes the apostrophe before a formula in a file of rejected lines. */
const rearmFormula = (cell: string): string => cell.replace(/^'(?=\s*[=+\-@＝＋－＠])/, "")

export const isBad = <Line extends ImportLine | BadLine>(line: Line): line is Line & BadLine => "reason" in line
export const isGood = <Line extends ImportLine | BadLine>(line: Line): line is Line & ImportLine => !isBad(line)
