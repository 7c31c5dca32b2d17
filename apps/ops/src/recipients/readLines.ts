import type { BadLine, ImportLine } from "@outreach/domain/recipients/Recipients"
import { Effect, Stream } from "effect"
import { type Row, readRows } from "./readRows.ts"
import { UnusableFile } from "./UnusableFile.ts"

const COLUMNS = ["npi", "email"]

/** Reads the lines of an import file, whose header names the columns `npi` and `email` in either order. */
export const readLines = (file: string, onBytes: (bytes: number) => Effect.Effect<void> = () => Effect.void) =>
  readRows(file, onBytes).pipe(
    Stream.mapAccumEffect(
      (): ReadonlyArray<string> | undefined => undefined,
      (header, row) => {
        if (header !== undefined) return Effect.succeed([header, [toLine(header, row)]] as const)
        const columns = row.fields.map((field) => field.toLowerCase())
        const reason = checkHeader(columns)
        return reason === undefined
          ? Effect.succeed([columns, []] as const)
          : Effect.fail(new UnusableFile({ file, reason }))
      },
    ),
  )

const toLine = (header: ReadonlyArray<string>, { number, fields }: Row): ImportLine | BadLine =>
  fields.length === header.length
    ? { number, npi: fields[header.indexOf("npi")]!, email: fields[header.indexOf("email")]! }
    : { number, reason: `the line has ${fields.length} fields and the header ${header.length}` }

/** Says what is wrong with a header, or undefined. */
const checkHeader = (columns: ReadonlyArray<string>): string | undefined => {
  const missing = COLUMNS.filter((column) => !columns.includes(column))
  if (missing.length > 0)
    return `its first line must name the columns npi and email, and ${missing.join(" and ")} is missing`
  const surplus = columns.findIndex((column, i) => !COLUMNS.includes(column) || columns.indexOf(column) < i)
  if (surplus === -1) return undefined
  // Only what is plainly a name is repeated: a file without a header has a recipient in its first line.
  const name = /^[a-z_][a-z_ ]{0,39}$/.test(columns[surplus]!) ? ` ("${columns[surplus]}")` : ""
  return `its columns must be npi and email alone, and column ${surplus + 1}${name} is another or a second one`
}
