import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { type Effect, Stream } from "effect"
import type { Header } from "./readHeader.ts"
import { type Row, readRows } from "./readRows.ts"

/** A line of an import file with its original text. */
export type FileLine = (ImportLine | BadLine) & { readonly text: string }

/** Reads the lines of an import file after its header. A missing column is empty. */
export const readLines = (header: Header, onBytes?: (bytes: number) => Effect.Effect<void>) => {
  const { file, columnCount, npi, email } = header
  // NPIs and addresses never contain a line end.
  const isWhole = (fields: ReadonlyArray<string>): boolean =>
    fields.length === columnCount && !/[\r\n]/.test(`${fields[npi] ?? ""}${fields[email] ?? ""}`)
  const toLine = ({ number, text, fields }: Row): FileLine => {
    if (fields === undefined) return { number, text, reason: "the line has a quote that does not pair" }
    if (fields.length !== columnCount)
      return { number, text, reason: `the line has ${fields.length} fields and the header ${columnCount}` }
    return { number, text, npi: fields[npi] ?? "", email: fields[email] ?? "" }
  }
  return readRows(file, { isWhole, onBytes }).pipe(Stream.drop(1), Stream.map(toLine))
}

export const isBad = <Line extends ImportLine | BadLine>(line: Line): line is Line & BadLine => "reason" in line
export const isGood = <Line extends ImportLine | BadLine>(line: Line): line is Line & ImportLine => !isBad(line)
