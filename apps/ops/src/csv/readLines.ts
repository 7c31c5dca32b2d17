import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { Effect, FileSystem, Option, Stream } from "effect"
import { UnusableFile } from "./ImportErrors.ts"
import { type Row, readRows } from "./readRows.ts"

const COLUMNS = ["npi", "email"] as const
const MAX_NAMED = 20

/** Whether a file must have both columns, or at least one. */
type Columns = "npi and email" | "npi or email"

/** An import file and its first line. */
export interface Header {
  readonly file: string
  /** In bytes. */
  readonly size: number
  /** The original text of the first line. */
  readonly text: string
  readonly columnCount: number
  /** The index of the column, or -1. */
  readonly npi: number
  readonly email: number
}

/** Reads the first line of a regular file. It names the columns `npi` and `email` in any order, and others if `ignoreColumns` is set. */
export const readHeader = Effect.fnUntraced(function* (
  file: string,
  columns: Columns,
  options: { readonly ignoreColumns: boolean },
) {
  const size = yield* sizeOf(file)
  const row = Option.getOrUndefined(yield* Stream.runHead(readRows(file, { isWhole: () => true })))
  if (row === undefined) return yield* new UnusableFile({ file, reason: "it is empty" })
  const { text, fields } = row
  const reason =
    fields === undefined ? "its first line has a quote that does not pair" : checkHeader(fields, columns, options)
  if (fields === undefined || reason !== undefined) return yield* new UnusableFile({ file, reason: reason! })
  const names = fields.map((field) => field.toLowerCase())
  const [npi, email] = [names.indexOf("npi"), names.indexOf("email")]
  return { file, size, text, columnCount: fields.length, npi, email } satisfies Header
})

const sizeOf = Effect.fnUntraced(function* (file: string) {
  const { stat } = yield* FileSystem.FileSystem
  if (file === "-") {
    return yield* new UnusableFile({ file: "Standard input", reason: "a file is read twice; give a file's name" })
  }
  const { type, size } = yield* Effect.mapError(
    stat(file),
    ({ reason }) =>
      new UnusableFile({ file, reason: reason._tag === "NotFound" ? "it does not exist" : "it cannot be read" }),
  )
  if (type !== "File")
    return yield* new UnusableFile({ file, reason: "it is not a regular file, and a file is read twice" })
  return Number(size)
})

/** Returns the reason why a header is not valid, or undefined. */
const checkHeader = (
  fields: ReadonlyArray<string>,
  columns: Columns,
  { ignoreColumns }: { readonly ignoreColumns: boolean },
): string | undefined => {
  const names = fields.map((field) => field.toLowerCase())
  const missing = COLUMNS.filter((column) => !names.includes(column))
  if (missing.length > (columns === "npi and email" ? 0 : 1))
    return `its first line must name the columns ${columns}, and lacks ${missing.join(" and ")}`
  const twice = COLUMNS.find((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (twice !== undefined) return `its first line names ${twice} more than once`
  const extra = fields.flatMap((field, i) =>
    COLUMNS.some((column) => column === names[i]) ? [] : [isName(field) ? `"${field}"` : `column ${i + 1}`],
  )
  if (extra.length === 0 || ignoreColumns) return undefined
  const more = extra.length > MAX_NAMED ? ` and ${extra.length - MAX_NAMED} more` : ""
  return `it has columns beside npi and email (${extra.slice(0, MAX_NAMED).join(", ")}${more}); --ignore-columns leaves them out`
}

/** Reports whether a field looks like a column name. Other fields are not repeated, because the first line may be a recipient's. */
const isName = (field: string): boolean => /^\p{L}[\p{L}\d _.()#/-]{0,39}$/u.test(field) && !/\d{5}/.test(field)

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
