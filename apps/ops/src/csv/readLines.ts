import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { fieldNameOf, type RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { Effect, FileSystem, Option, Result, Stream } from "effect"
import { unusableFile } from "./ImportErrors.ts"
import { type Row, readRows } from "./readRows.ts"

const COLUMNS = ["npi", "email"] as const
const MAX_NAMED = 20

/** Whether a file must have both columns, or at least one. */
type Columns = "npi and email" | "npi or email"

/** A column whose values are fields of recipients. */
interface FieldColumn {
  readonly name: string
  readonly index: number
}

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
  /** Undefined when the import takes no fields. */
  readonly fields: ReadonlyArray<FieldColumn> | undefined
}

/**
 * Reads the first line of a regular file. It names the columns `npi` and `email` in any order, those of the fields, and others if
 * `ignoreColumns` is set.
 */
export const readHeader = Effect.fnUntraced(function* (
  file: string,
  columns: Columns,
  options: {
    readonly ignoreColumns: boolean
    /** The fields that the file must have a column for; `all` takes every column. Default none. */
    readonly fields?: ReadonlyArray<string> | "all"
    /** The fields that are taken where the file has a column for them. Default none. */
    readonly fieldsIfThere?: ReadonlyArray<string>
  },
) {
  const size = yield* sizeOf(file)
  const row = Option.getOrUndefined(yield* Stream.runHead(readRows(file, { isWhole: () => true })))
  if (row === undefined) return yield* Effect.fail(unusableFile(file, "it is empty"))
  const { text, fields } = row
  if (fields === undefined) {
    return yield* Effect.fail(unusableFile(file, "its first line has a quote that does not pair"))
  }
  const found = findFields(fields, options)
  const reason = typeof found === "string" ? found : checkHeader(fields, columns, { ...options, fields: found ?? [] })
  if (reason !== undefined) return yield* Effect.fail(unusableFile(file, reason))
  const names = fields.map((field) => field.toLowerCase())
  const [npi, email] = [names.indexOf("npi"), names.indexOf("email")]
  return {
    ...{ file, size, text, columnCount: fields.length, npi, email },
    fields: typeof found === "string" ? undefined : found,
  } satisfies Header
})

const sizeOf = Effect.fnUntraced(function* (file: string) {
  const { stat } = yield* FileSystem.FileSystem
  if (file === "-") {
    return yield* Effect.fail(unusableFile("Standard input", "a file is read twice; give a file's name"))
  }
  const { type, size } = yield* Effect.mapError(stat(file), ({ reason }) =>
    unusableFile(file, reason._tag === "NotFound" ? "it does not exist" : "it cannot be read"),
  )
  if (type !== "File")
    return yield* Effect.fail(unusableFile(file, "it is not a regular file, and a file is read twice"))
  return Number(size)
})

/** Finds the columns of fields, or returns the reason why they are not there; undefined if no fields are taken. */
const findFields = (
  header: ReadonlyArray<string>,
  {
    fields: wanted = [],
    fieldsIfThere = [],
  }: { readonly fields?: ReadonlyArray<string> | "all"; readonly fieldsIfThere?: ReadonlyArray<string> },
): ReadonlyArray<FieldColumn> | string | undefined => {
  const columns: Array<FieldColumn> = []
  for (const [index, column] of header.entries()) {
    if (COLUMNS.some((known) => known === column.toLowerCase())) continue
    const name = fieldNameOf(column)
    if (Result.isSuccess(name)) {
      if (wanted === "all" || [...wanted, ...fieldsIfThere].includes(name.success))
        columns.push({ name: name.success, index })
    } else if (wanted === "all") {
      return `${describeColumn(column, index)} cannot be a field: ${name.failure}; rename it, or name the others with --fields`
    }
  }
  const names = columns.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) return `its first line names the field ${twice} more than once`
  const missing = wanted === "all" ? [] : wanted.filter((name) => !names.includes(name))
  if (missing.length > 0)
    return `its first line lacks a column for ${missing.join(", ")}, of the fields of the campaign and of --fields`
  return wanted.length === 0 && columns.length === 0 ? undefined : columns
}

const describeColumn = (column: string, index: number): string =>
  isName(column) ? `"${column}"` : `column ${index + 1}`

/** Returns the reason why a header is not valid, or undefined. */
const checkHeader = (
  header: ReadonlyArray<string>,
  columns: Columns,
  { ignoreColumns, fields }: { readonly ignoreColumns: boolean; readonly fields: ReadonlyArray<FieldColumn> },
): string | undefined => {
  const names = header.map((column) => column.toLowerCase())
  const missing = COLUMNS.filter((column) => !names.includes(column))
  if (missing.length > (columns === "npi and email" ? 0 : 1))
    return `its first line must name the columns ${columns}, and lacks ${missing.join(" and ")}`
  const twice = COLUMNS.find((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (twice !== undefined) return `its first line names ${twice} more than once`
  const taken = new Set(fields.map(({ index }) => index))
  const extra = header.flatMap((column, i) =>
    taken.has(i) || COLUMNS.some((known) => known === names[i]) ? [] : [describeColumn(column, i)],
  )
  if (extra.length === 0 || ignoreColumns) return undefined
  const more = extra.length > MAX_NAMED ? ` and ${extra.length - MAX_NAMED} more` : ""
  const known = ["npi", "email", ...fields.map(({ name }) => name)].join(", ").replace(/, (\S+)$/, " and $1")
  return `it has columns beside ${known} (${extra.slice(0, MAX_NAMED).join(", ")}${more}); --ignore-columns leaves them out`
}

/** Reports whether a field looks like a column name. Other fields are not repeated, because the first line may be a recipient's. */
const isName = (field: string): boolean => /^\p{L}[\p{L}\d _.()#/-]{0,39}$/u.test(field) && !/\d{5}/.test(field)

/** A line of an import file with its original text. */
export type FileLine = (ImportLine | BadLine) & { readonly text: string }

/** Reads the lines of an import file after its header. A missing column is empty. */
export const readLines = (header: Header, onBytes?: (bytes: number) => Effect.Effect<void>) => {
  const { file, columnCount, npi, email, fields: columns } = header
  // NPIs and addresses never contain a line end.
  const isWhole = (fields: ReadonlyArray<string>): boolean =>
    fields.length === columnCount && !/[\r\n]/.test(`${fields[npi] ?? ""}${fields[email] ?? ""}`)
  const toLine = ({ number, text, fields }: Row): FileLine => {
    if (fields === undefined) return { number, text, reason: "the line has a quote that does not pair" }
    if (fields.length !== columnCount)
      return { number, text, reason: `the line has ${fields.length} fields and the header ${columnCount}` }
    const clinician = { npi: fields[npi] ?? "", email: fields[email] ?? "" }
    return { number, text, ...clinician, ...(columns && { fields: fieldsOf(columns, fields) }) }
  }
  return readRows(file, { isWhole, onBytes }).pipe(Stream.drop(1), Stream.map(toLine))
}

/** Returns the values of a row that are not blank. */
const fieldsOf = (columns: ReadonlyArray<FieldColumn>, row: ReadonlyArray<string>): RecipientFields =>
  Object.fromEntries(
    columns.flatMap(({ name, index }) => (row[index]!.trim() === "" ? [] : [[name, row[index]!] as const])),
  )

export const isBad = <Line extends ImportLine | BadLine>(line: Line): line is Line & BadLine => "reason" in line
export const isGood = <Line extends ImportLine | BadLine>(line: Line): line is Line & ImportLine => !isBad(line)
