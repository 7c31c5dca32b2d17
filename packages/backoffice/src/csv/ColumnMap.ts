import { fieldNameOf } from "@outreach/domain/recipients/RecipientFields"
import { textSchema } from "@outreach/domain/textSchema"
import { Result, type Schema } from "effect"

/** The contents of a file's columns by key: `npi`, `email`, or the name of a field. */
export type ColumnMap = ReadonlyMap<string, string>

/** The key of a column: its name, or `column 3` for its position. */
export const columnKey = (name: string): string => name.trim().toLowerCase().replaceAll(/\s+/g, " ")

/** Returns the content that a column's name means: `npi`, `email`, or the name of a field; undefined if it has none. */
export const contentOf = (name: string): string | undefined =>
  /^(?:npi|email)$/i.test(name) ? name.toLowerCase() : Result.getOrUndefined(fieldNameOf(name))

// A name needs quotes only if it contains `=word,`.
const ENTRY = /\s*(?:"((?:[^"]|"")+)"|(.+?))\s*=\s*([a-z][\w -]*?)\s*(?:,|$)/iy

export const ColumnMapText: Schema.Codec<ColumnMap, string> = textSchema(
  'columns and their contents, such as "E-Mail=email,NPI Number=npi,Given Name=first_name"',
  (text) => {
    const map = new Map<string, string>()
    for (ENTRY.lastIndex = 0; ENTRY.lastIndex < text.length; ) {
      const [, quoted, plain, word = ""] = ENTRY.exec(text) ?? []
      const column = columnKey(quoted?.replaceAll('""', '"') ?? plain ?? "")
      const target = contentOf(word)
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
  /** The label in messages: the name, or the position if the name could be a person's. */
  readonly title: string
  /** The content: `npi`, `email`, or the name of a field; from the header or the map. */
  readonly name: string
  readonly isMapped: boolean
  /** Its cells in the first rows. */
  readonly cells: ReadonlyArray<string>
}
