import type { BadLine, ImportLine } from "@outreach/domain/campaigns/RecipientImport"
import { fieldNameOf, type RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import { Effect, FileSystem, Option, Result, Stream } from "effect"
import { type Row, readRows, unusableFile } from "./readRows.ts"

const COLUMNS = ["npi", "email"] as const
const MAX_NAMED = 20

/** Whether a file must have both columns, or at least one. */
type Columns = "npi and email" | "npi or email"

interface FieldColumn {
  readonly name: string
  readonly index: number
}

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

interface HeaderOptions {
  readonly ignoreColumns: boolean
  /** The fields that the file must have a column for; `all` takes every column. Default none. */
  readonly fields?: ReadonlyArray<string> | "all"
  /** The fields that are taken where the file has a column for them. Default none. */
  readonly fieldsIfThere?: ReadonlyArray<string>
}

/**
 * Reads the first line of a regular file. It names the columns `npi` and `email` in any order, those of the fields, and others if
 * `ignoreColumns` is set.
 */
export const readHeader = Effect.fnUntraced(function* (file: string, columns: Columns, options: HeaderOptions) {
  const size = yield* sizeOf(file)
  const row = Option.getOrUndefined(yield* Stream.runHead(readRows(file, { isWhole: () => true })))
  if (row === undefined) return yield* Effect.fail(unusableFile(file, "it is empty"))
  const { text, fields } = row
  if (fields === undefined) {
    return yield* Effect.fail(unusableFile(file, "its first line has a quote that does not pair"))
  }
  const parsed = yield* Effect.mapError(parseHeader(fields, columns, options), (reason) => unusableFile(file, reason))
  return { file, size, text, columnCount: fields.length, ...parsed } satisfies Header
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

/** Finds the columns that are read, or fails with the reason why the header is not valid. */
const parseHeader = Effect.fnUntraced(function* (
  header: ReadonlyArray<string>,
  columns: Columns,
  { ignoreColumns, fields: wanted = [], fieldsIfThere = [] }: HeaderOptions,
) {
  const names = header.map((column) => column.toLowerCase())
  const isKnown = (index: number) => COLUMNS.some((known) => known === names[index])
  const describe = (index: number) => (isName(header[index]!) ? `"${header[index]}"` : `column ${index + 1}`)

  const fields: Array<FieldColumn> = []
  for (const [index, column] of header.entries()) {
    if (isKnown(index)) continue
    const name = fieldNameOf(column)
    if (Result.isSuccess(name)) {
      if (wanted === "all" || [...wanted, ...fieldsIfThere].includes(name.success))
        fields.push({ name: name.success, index })
    } else if (wanted === "all") {
      return yield* Effect.fail(
        `${describe(index)} cannot be a field: ${name.failure}; rename it, or name the others with --fields`,
      )
    }
  }
  const fieldNames = fields.map(({ name }) => name)
  const repeated = fieldNames.find((name, i) => fieldNames.indexOf(name) !== i)
  if (repeated !== undefined) return yield* Effect.fail(`its first line names the field ${repeated} more than once`)
  const lacking = wanted === "all" ? [] : wanted.filter((name) => !fieldNames.includes(name))
  if (lacking.length > 0) {
    return yield* Effect.fail(
      `its first line lacks a column for ${lacking.join(", ")}, of the fields of the campaign and of --fields`,
    )
  }

  const missing = COLUMNS.filter((column) => !names.includes(column))
  if (missing.length > (columns === "npi and email" ? 0 : 1)) {
    return yield* Effect.fail(`its first line must name the columns ${columns}, and lacks ${missing.join(" and ")}`)
  }
  const twice = COLUMNS.find((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (twice !== undefined) return yield* Effect.fail(`its first line names ${twice} more than once`)
  const taken = new Set(fields.map(({ index }) => index))
  const extra = [...header.keys()].filter((index) => !taken.has(index) && !isKnown(index)).map(describe)
  if (extra.length > 0 && !ignoreColumns) {
    const more = extra.length > MAX_NAMED ? ` and ${extra.length - MAX_NAMED} more` : ""
    const known = [...COLUMNS, ...fieldNames].join(", ").replace(/, (\S+)$/, " and $1")
    return yield* Effect.fail(
      `it has columns beside ${known} (${extra.slice(0, MAX_NAMED).join(", ")}${more}); --ignore-columns leaves them out`,
    )
  }
  const takesFields = wanted.length > 0 || fields.length > 0
  return { npi: names.indexOf("npi"), email: names.indexOf("email"), fields: takesFields ? fields : undefined }
})

/** Reports whether a field looks like a column name. Other fields are not repeated, because the first line may be a recipient's. */
const isName = (field: string): boolean => /^\p{L}[\p{L}\d _.()#/-]{0,39}$/u.test(field) && !/\d{5}/.test(field)

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
