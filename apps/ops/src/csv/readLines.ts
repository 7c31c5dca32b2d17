import type { BadLine, ImportLine } from "@outreach/domain/recipients/Recipients"
import { Effect, Stream } from "effect"
import { type Row, readRows } from "./readRows.ts"
import { UnusableFile } from "./UnusableFile.ts"

const COLUMNS = ["npi", "email"]

/** Whether a file must have both columns, or may have one of them alone. */
export type Columns = "npi and email" | "npi or email"

/** Reads the lines of an import file, whose header names the columns `npi` and `email` in any order; a column that is not there is empty. */
export const readLines = (
  file: string,
  columns: Columns,
  onBytes: (bytes: number) => Effect.Effect<void> = () => Effect.void,
) =>
  Stream.suspend(() => {
    let header: ReadonlyArray<string> | undefined
    const readLine = (row: Row): Effect.Effect<ReadonlyArray<ImportLine | BadLine>, UnusableFile> => {
      if (header !== undefined) return Effect.succeed([toLine(header, row)])
      header = row.fields.map((field) => field.toLowerCase())
      const reason = checkHeader(header, columns)
      return reason === undefined ? Effect.succeed([]) : Effect.fail(new UnusableFile({ file, reason }))
    }
    const checkEnd = Effect.suspend(() =>
      header === undefined ? Effect.fail(new UnusableFile({ file, reason: "it is empty" })) : Effect.void,
    )
    return readRows(file, onBytes).pipe(
      Stream.mapEffect(readLine),
      Stream.flattenIterable,
      Stream.concat(Stream.fromEffectDrain(checkEnd)),
    )
  })

const toLine = (header: ReadonlyArray<string>, { number, fields }: Row): ImportLine | BadLine =>
  fields.length === header.length
    ? { number, npi: fields[header.indexOf("npi")] ?? "", email: fields[header.indexOf("email")] ?? "" }
    : { number, reason: `the line has ${fields.length} fields and the header ${header.length}` }

/** Says what is wrong with a header, or undefined. */
const checkHeader = (columns: ReadonlyArray<string>, wanted: Columns): string | undefined => {
  const missing = COLUMNS.filter((column) => !columns.includes(column))
  if (missing.length > (wanted === "npi and email" ? 0 : 1))
    return `its first line must name the columns ${wanted}, and lacks ${missing.join(" and ")}`
  const surplus = columns.findIndex((column, i) => !COLUMNS.includes(column) || columns.indexOf(column) < i)
  if (surplus === -1) return undefined
  // Only what is plainly a name is repeated: a file without a header has a recipient in its first line.
  const name = /^[a-z_][a-z_ ]{0,39}$/.test(columns[surplus]!) ? ` ("${columns[surplus]}")` : ""
  return `its columns must be npi and email alone, and column ${surplus + 1}${name} is surplus`
}
