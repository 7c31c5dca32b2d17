import { fieldNameOf } from "@outreach/domain/recipients/RecipientFields"
import { textSchema } from "@outreach/domain/textSchema"
import { Result, type Schema } from "effect"
import { shellWord } from "../formatCommand.ts"
import { isEmail, isNpi, readEmail, readNpi } from "./spreadsheetCells.ts"

/** What the columns of a file hold, by their keys: `npi`, `email`, or the name of a field. */
export type ColumnMap = ReadonlyMap<string, string>

/** What a column is looked up by: its name, or `column 3` for its place. */
export const columnKey = (name: string): string => name.trim().toLowerCase().replaceAll(/\s+/g, " ")

// A name needs quotes only if `=word,` is a part of it.
const ENTRY = /\s*(?:"((?:[^"]|"")+)"|(.+?))\s*=\s*([a-z][\w -]*?)\s*(?:,|$)/iy

export const ColumnMapText: Schema.Codec<ColumnMap, string> = textSchema(
  'columns and what they hold, such as "E-Mail=email,NPI Number=npi,Given Name=first_name"',
  (text) => {
    const map = new Map<string, string>()
    for (ENTRY.lastIndex = 0; ENTRY.lastIndex < text.length; ) {
      const [, quoted, plain, word = ""] = ENTRY.exec(text) ?? []
      const column = columnKey(quoted?.replaceAll('""', '"') ?? plain ?? "")
      const target = /^(?:npi|email)$/i.test(word) ? word.toLowerCase() : Result.getOrUndefined(fieldNameOf(word))
      if (target === undefined) return undefined
      if (map.has(column)) throw new RangeError("a column is named twice")
      if ([...map.values()].includes(target)) throw new RangeError(`${target} is named twice`)
      map.set(column, target)
    }
    return map.size === 0 ? undefined : map
  },
)

/** Returns the value of a flag `--map`. */
export const formatMap = (map: ReadonlyArray<readonly [column: string, target: string]>): string => {
  const quote = (column: string) => (/=.*,|^"/.test(column) ? `"${column.replaceAll('"', '""')}"` : column)
  return map.map(([column, target]) => `${quote(column)}=${target}`).join(",")
}

export interface Column {
  /** What messages call it: its name, or its place where the name may be a person's. */
  readonly title: string
  /** What it holds: `npi`, `email`, or the name of a field; as written, or by the map. */
  readonly name: string
  readonly isMapped: boolean
  /** Its cells in the first rows. */
  readonly cells: ReadonlyArray<string>
}

/** Returns the whole `--map` that is likely where columns are missing. */
export const suggestMap = (missing: ReadonlyArray<string>, columns: ReadonlyArray<Column>): string | undefined => {
  const found = findLikely(missing, columns).map(([{ title }, target]) => [title, target] as const)
  const given = columns.flatMap(({ isMapped, title, name }) => (isMapped ? [[title, name] as const] : []))
  return found.length === 0 ? undefined : `--map ${shellWord(formatMap([...given, ...found]))}`
}

/** Returns what each column is likely to hold of what is wanted, by its name or by its cells; an empty text for the others. */
export const likelyTargets = (wanted: ReadonlyArray<string>, columns: ReadonlyArray<Column>): ReadonlyArray<string> => {
  const targets = new Map<Column, string>()
  for (const column of columns) {
    const name = column.name.toLowerCase()
    const target = TESTS[name] === undefined ? Result.getOrElse(fieldNameOf(column.name), () => "") : name
    if (wanted.includes(target) && ![...targets.values()].includes(target)) targets.set(column, target)
  }
  const missing = wanted.filter((target) => ![...targets.values()].includes(target))
  const free = columns.filter((column) => !targets.has(column))
  for (const [column, target] of findLikely(missing, free)) targets.set(column, target)
  return columns.map((column) => targets.get(column) ?? "")
}

/** Finds the columns that are likely to hold what is missing, each of them once: by their names, and by what the first rows hold. */
const findLikely = (
  missing: ReadonlyArray<string>,
  columns: ReadonlyArray<Column>,
): ReadonlyArray<readonly [Column, target: string]> => {
  let free = columns.filter(({ isMapped, name }) => !isMapped && TESTS[name.toLowerCase()] === undefined)
  return missing.flatMap((target) => {
    const scores = free.map((column) => likeness(target, column))
    const best = free[scores.indexOf(Math.max(...scores))]
    if (best === undefined || Math.max(...scores) < 0.5) return []
    free = free.filter((column) => column !== best)
    return [[best, target] as const]
  })
}

const TESTS: Readonly<Record<string, (cell: string) => boolean>> = {
  npi: (cell) => isNpi(readNpi(cell).value),
  email: (cell) => isEmail(readEmail(cell).value),
}

/** Names of columns in use, without what is neither a letter nor a digit. */
const NAMES: Readonly<Record<string, RegExp>> = {
  npi: /^(?:npi(?:number|no|id|code)?|(?:provider|individual|physician)npi|nationalprovideridentifier)$/,
  email: /^(?:(?:primary|work|business|contact)?e?mail(?:address|adresse|id)?)$/,
}

const likeness = (target: string, { title, cells }: Column): number => {
  const plain = title.toLowerCase().replaceAll(/[^\p{L}\d]/gu, "")
  const isNamed = NAMES[target]?.test(plain) ?? plain === target.replaceAll("_", "")
  const filled = cells.filter((cell) => cell !== "")
  const fitting = TESTS[target] === undefined ? 0 : filled.filter(TESTS[target]).length
  return (isNamed ? 1 : plain.includes(target) ? 0.5 : 0) + (filled.length === 0 ? 0 : fitting / filled.length)
}
