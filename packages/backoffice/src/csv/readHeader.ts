import { canonicalEmail, Npi } from "@outreach/domain/recipients/Clinician"
import { fieldNameOf } from "@outreach/domain/recipients/RecipientFields"
import { Effect, FileSystem, Result, Schema } from "effect"
import { shellWord } from "../formatCommand.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { type Column, type ColumnMap, columnKey, contentOf } from "./ColumnMap.ts"
import { UnusableFile } from "./readRows.ts"
import { describeFormat, type FileFormat, recognizeFormat } from "./recognizeFormat.ts"

const COLUMNS = ["npi", "email"] as const
const MAX_NAMED = 20

/** Whether a file must have both columns, or at least one. */
type Columns = "npi and email" | "npi or email"

interface FieldColumn {
  readonly name: string
  readonly index: number
}

export interface Header extends Pick<FileFormat, "encoding" | "delimiter"> {
  readonly file: string
  /** In bytes. */
  readonly size: number
  /** The number of its line; 0 if the file has none. */
  readonly line: number
  /** The columns' names as written. */
  readonly text: string
  /** The file's format, for people. */
  readonly readAs: string
  readonly columnCount: number
  /** The index of the column, or -1. */
  readonly npi: number
  readonly email: number
  /** Undefined if the import has no fields. */
  readonly fields: ReadonlyArray<FieldColumn> | undefined
}

export interface HeaderOptions {
  readonly ignoreColumns?: boolean
  /** The contents of columns with other names. */
  readonly map?: ColumnMap
  /** The required fields; `all` means every column. Default none. */
  readonly fields?: ReadonlyArray<string> | "all"
  /** The optional fields. Default none. */
  readonly fieldsIfThere?: ReadonlyArray<string>
}

/**
 * Detects the format of a regular file, and reads its columns with their names and first cells. The first line is a header if it has a known name,
 * or no cell of a clinician.
 */
export const readColumns = Effect.fnUntraced(function* (file: string, names: ReadonlyArray<string> = []) {
  const size = yield* sizeOf(file)
  const { sample, encoding, delimiter } = yield* recognizeFormat(file)
  const [first, ...others] = sample
  if (first === undefined) return yield* new UnusableFile({ file, reason: "it is empty" })
  if (first.fields === undefined) {
    return yield* new UnusableFile({ file, reason: "its first line has a quote that does not pair" })
  }
  const isWanted = (cell: string) => [...COLUMNS, ...names].includes(columnKey(cell))
  const isHeader = first.fields.some(isWanted) || !first.fields.some(isOfClinician)
  const rows = isHeader ? others : sample
  const columns = first.fields.map((cell, i): Column => {
    const place = `column ${i + 1}`
    const cells = rows.map(({ fields }) => fields?.[i] ?? "")
    return { title: isHeader && isName(cell) ? cell : place, name: isHeader ? cell : place, isMapped: false, cells }
  })
  const titles = columns.map(({ title }) => title)
  const readAs = `${describeFormat({ encoding, delimiter })}, with ${isHeader ? `the header ${nameAll(titles)}` : "no header"}`
  const header = isHeader ? { line: first.number, text: first.text } : { line: 0, text: titles.join(delimiter) }
  return { file, size, encoding, delimiter, columns, isHeader, readAs, ...header }
})

/**
 * Reads the header of a regular file: the columns `npi` and `email` in any order, those of the fields, and other columns if `ignoreColumns` is set.
 * `map` names columns, also of a file without a header. Returns the format, too.
 */
export const readHeader = Effect.fnUntraced(function* (file: string, columns: Columns, options: HeaderOptions) {
  const { map = new Map<string, string>() } = options
  const { columns: written, isHeader, ...shape } = yield* readColumns(file, [...map.keys()])
  const mapped = new Set(map.values())
  const found = written.map((column, i): Column => {
    const target = map.get(`column ${i + 1}`) ?? map.get(columnKey(column.name))
    // A mapped column replaces another one of its name.
    const name = target ?? (mapped.has(contentOf(column.name) ?? "") ? "" : column.name)
    return { ...column, name, isMapped: target !== undefined }
  })
  const lacking = [...map].find(([, target]) => !found.some(({ name, isMapped }) => isMapped && name === target))
  const parsed =
    lacking === undefined
      ? parseHeader(found, columns, options, isHeader)
      : `--map names a column for ${lacking[1]} that it lacks; it has ${nameAll(found.map(describe))}`
  if (typeof parsed === "string") return yield* new UnusableFile({ file, reason: parsed })
  yield* (yield* TaskProgress).say(`Read as ${shape.readAs}.`)
  return { ...shape, columnCount: found.length, ...parsed } satisfies Header
})

const sizeOf = Effect.fnUntraced(function* (file: string) {
  const { stat } = yield* FileSystem.FileSystem
  if (file === "-") {
    const reason = "a file is read more than once; give a file's name"
    return yield* new UnusableFile({ file: "Standard input", reason })
  }
  const unusable = (reason: string) => new UnusableFile({ file, reason })
  const { type, size } = yield* Effect.mapError(stat(file), ({ reason }) =>
    unusable(reason._tag === "NotFound" ? "it does not exist" : "it cannot be read"),
  )
  if (type !== "File") return yield* unusable("it is not a regular file, and a file is read more than once")
  return Number(size)
})

/** Returns the needed columns, or the reason why the header is invalid. */
const parseHeader = (
  header: ReadonlyArray<Column>,
  columns: Columns,
  { ignoreColumns, fields: wanted = [], fieldsIfThere = [] }: HeaderOptions,
  isHeader: boolean,
): Pick<Header, "npi" | "email" | "fields"> | string => {
  const names = header.map(({ name }) => name.toLowerCase())
  const isKnown = (index: number) => COLUMNS.some((known) => known === names[index])

  const missing = COLUMNS.filter((column) => !names.includes(column))
  if (missing.length > (columns === "npi and email" ? 0 : 1)) {
    return isHeader
      ? `its first line must name the columns ${columns}, and lacks ${missing.join(" and ")}; it names ${nameAll(header.map(describe))}; --map gives columns these names`
      : `its first line is that of a clinician, and no header that names the columns ${columns}; name them with --map, such as --map ${shellWord("column 1=npi,column 2=email")}`
  }
  const twice = COLUMNS.find((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (twice !== undefined) {
    const map = shellWord(`column ${names.lastIndexOf(twice) + 1}=${twice}`)
    return `its first line names ${twice} more than once; name the one that counts by its place, such as --map ${map}`
  }

  const fields: Array<FieldColumn> = []
  for (const [index, column] of header.entries()) {
    if (isKnown(index)) continue
    const name = fieldNameOf(column.name)
    if (Result.isSuccess(name)) {
      if (wanted === "all" || column.isMapped || [...wanted, ...fieldsIfThere].includes(name.success))
        fields.push({ name: name.success, index })
    } else if (wanted === "all") {
      return `${describe(column)} cannot be a field: ${name.failure}; rename it, or name the others with --fields`
    }
  }
  const fieldNames = fields.map(({ name }) => name)
  const repeated = fieldNames.find((name, i) => fieldNames.indexOf(name) !== i)
  if (repeated !== undefined) return `its first line names the field ${repeated} more than once`
  const lacking = wanted === "all" ? [] : wanted.filter((name) => !fieldNames.includes(name))
  if (lacking.length > 0) {
    return `its first line lacks a column for ${lacking.join(", ")}, of the fields of the campaign and of --fields`
  }

  const taken = new Set(fields.map(({ index }) => index))
  const extra = header.filter((_, index) => !taken.has(index) && !isKnown(index)).map(describe)
  if (extra.length > 0 && !ignoreColumns) {
    const known = [...COLUMNS, ...fieldNames].join(", ").replace(/, (\S+)$/, " and $1")
    return `it has columns beside ${known} (${nameAll(extra)}); --ignore-columns leaves them out`
  }
  const takesFields = wanted.length > 0 || fields.length > 0
  return { npi: names.indexOf("npi"), email: names.indexOf("email"), fields: takesFields ? fields : undefined }
}

const isNpi = Schema.is(Npi)
const isOfClinician = (cell: string): boolean => isNpi(cell) || canonicalEmail(cell) !== undefined

const describe = ({ title }: Column): string => (/^column \d+$/.test(title) ? title : `"${title}"`)

const nameAll = (columns: ReadonlyArray<string>): string =>
  columns.slice(0, MAX_NAMED).join(", ") + (columns.length > MAX_NAMED ? ` and ${columns.length - MAX_NAMED} more` : "")

/** Reports whether a field looks like a column name. Messages don't repeat other fields, which may be a recipient's. */
const isName = (field: string): boolean => /^\p{L}[\p{L}\d _.()#/-]{0,39}$/u.test(field) && !/\d{5}/.test(field)
