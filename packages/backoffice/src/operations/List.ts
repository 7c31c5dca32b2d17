import { DescribedError } from "@outreach/domain/DescribedError"
import type { Access } from "@outreach/domain/operators/Operator"
import { parseInput, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { Effect, Order, Record, Result, Schema, type Scope, Struct } from "effect"
import { checkIds } from "../operators/ObjectFinder.ts"
import { type Codec, choice, type Fields, field, fieldName, type ValuesOf, withDefault } from "./Field.ts"
import { operation, rowsPart, type Step, type Steps, type TaggedFailure, toEffect } from "./Operation.ts"

/** The severity of a status: good, warning, bad, or idle. */
export type Tone = "good" | "warning" | "bad" | "neutral"

/** The severities of statuses. Default: neutral. */
export type Tones<Status extends string = string> = { readonly [S in Status]?: Tone }

/** The order of severities, the most urgent first. */
export const URGENCY: Readonly<Record<Tone, number>> = { bad: 0, warning: 1, neutral: 2, good: 2 }

/** Problems come first, otherwise in the given order. */
export const byUrgency = Order.mapInput(Order.Number, ({ tone }: { readonly tone: Tone }) => URGENCY[tone])

/** How the console shows a column. Each value of a badge has a tone, by default neutral. */
type Kind = "text" | "id" | "time" | "count" | "share" | "millis" | "badge" | "masked"

export type Direction = "asc" | "desc"

/** The order of a list: the key of a column, and its direction. */
interface Sort {
  readonly by: string
  readonly direction: Direction
}

/** A column of a list. Its key is the row's field, and its name in the table and the CSV of `ops`. */
export interface Column<Row> {
  readonly kind: Kind
  /** The heading in the console. Without it, only `ops` shows the column. */
  readonly label?: string
  /** Whether only the console shows the column. */
  readonly isOfConsole?: true
  /** The value, except in JSON. Default: the row's field. */
  readonly value?: (row: Row) => unknown
  /** The console's text, if it isn't the value's. */
  readonly shown?: (row: Row) => string | null
  /** The id of the object that the console links a text or a time to. */
  readonly of?: (row: Row) => string
  /** A second line in the console. */
  readonly note?: (row: Row) => string
  /** The text of the console for null. Default: a dash. */
  readonly none?: string
  /** A count that means this many or more. */
  readonly cap?: number
  readonly tones?: Tones
  /** The tone of a badge. Default: that of its value in `tones`. */
  readonly tone?: (row: Row) => Tone
  /** Returns the text instead of a masked value. */
  readonly mask?: (row: Row) => string
  /** Whether the list can be sorted by it, in both directions, and the direction to start with. A list with pages needs an index for it. */
  readonly sort?: Direction
}

/** Columns that only `ops` shows. */
export const inOps = <Key extends string>(...keys: ReadonlyArray<Key>) =>
  Record.fromIterableWith(keys, (key) => [key, { kind: "text" } as const])

export const text = (label: string) => ({ kind: "text", label }) as const

/** The id of an object, which the console shows as a link with its name. */
export const id = (label: string) => ({ kind: "id", label }) as const

export const time = (label: string, none?: string) => ({ kind: "time", label, ...(none && { none }) }) as const

export const count = (label: string, cap?: number) => ({ kind: "count", label, ...(cap && { cap }) }) as const

export const millis = (label: string) => ({ kind: "millis", label }) as const

export const masked = (label: string) => ({ kind: "masked", label }) as const

export const badge = <Value extends string>(label: string, tones?: Tones<Value>) =>
  ({ kind: "badge", label, ...(tones && { tones }) }) as const

/** The fields of a row that order a list, and from which its next page starts. */
type Cursor = Readonly<Record<string, Codec<unknown>>>
type Position<C> = { readonly [K in keyof C]: C[K] extends Codec<infer A> ? A : never }

/** The rows of a page, and where the next one starts: null at the end of the list. A page may be short or empty before the end. */
export interface Page<Row, Position = string> {
  readonly rows: ReadonlyArray<Row>
  readonly next: Position | null
}

/** The part of a list to read. */
interface Part<Position = string> {
  readonly limit: number
  /** Default: the start. */
  readonly after: Position | null
}

/** A list of operators: everything that a command and a page need to show it. */
export interface List<F, Row, R> extends Access {
  /** The command's words. */
  readonly command: string
  /** The description in the help. */
  readonly about: string
  readonly examples?: ReadonlyArray<string>
  readonly filters: F
  readonly columns: Readonly<Record<string, Column<Row>>>
  /** Whether the console reads all rows at once. */
  readonly isWhole: boolean
  /** The order without the filter `sort`, if a column has it. */
  readonly sort: Sort | undefined
  /** Whether rows contain personal data: the audit log records the command, and the console masks them. */
  readonly isPersonal?: true
  /** Fields of a row that `ops` doesn't print. */
  readonly omit?: ReadonlyArray<string>
  /** The text of the console without rows and filters. */
  readonly empty: string
  /** The command that adds rows, which the console offers if there are none; null if no command adds rows directly. */
  readonly filledBy: string | null
  readonly read: (filter: ValuesOf<F>, part: Part) => Effect.Effect<Page<Row>, TaggedFailure, R>
  /** Checks the filter of a command that found no rows. */
  readonly whenEmpty?: (filter: ValuesOf<F>) => Effect.Effect<unknown, TaggedFailure, R>
}

type Plain = "about" | "examples" | "isPersonal" | "omit" | "empty" | "filledBy"

interface Declaration<F, C, Row, R, Y extends Step, R2> extends Partial<Access>, Pick<List<F, Row, R>, Plain> {
  readonly filters?: F
  /** Without it, all rows are read at once and sorted here, and a row is identified by `key`: default the first column. */
  readonly cursor?: C
  readonly key?: ReadonlyArray<string>
  /** Reads the rows after a position, by the column with `sort`: one more than `limit` if there are more, or a page. */
  readonly read: Steps<
    [filter: ValuesOf<F>, part: Part<Position<C>> & Pick<Sort, "direction">],
    ReadonlyArray<Row> | Page<Row, Position<C>>,
    R,
    Y
  >
  readonly whenEmpty?: (filter: ValuesOf<F>) => Effect.Effect<unknown, TaggedFailure, R2>
  // The type of a row is inferred only from `read`.
  readonly columns: Readonly<Record<string, Column<NoInfer<Row>>>>
}

/** Returns the text of a position, and its schema. Only the last field may contain a comma. */
export const cursorOf = <const C extends Cursor>(fields: C) => {
  const names = Object.keys(fields)
  return {
    toText: (row: object): string => names.map((name) => row[name as never]).join(","),
    schema: textSchema("a position as in the link to the next page", (text) => {
      const parts = text.split(",")
      const texts = [...parts.slice(0, names.length - 1), parts.slice(names.length - 1).join(",")]
      const values = Result.all(names.map((name, i) => parseInput(fields[name]!)(texts[i] ?? "")))
      return Result.isSuccess(values)
        ? (Object.fromEntries(names.map((name, i) => [name, values.success[i]])) as Position<C>)
        : undefined
    }),
  }
}

export class InvalidAfter extends DescribedError(
  "InvalidAfter",
  "The list doesn't continue after this row. It may be gone: start again at the first page.",
) {}

const DIRECTIONS = { asc: "ascending", desc: "descending" } as const

/** Returns the value of the filter `sort`. */
const sortName = (by: string, direction: Direction): string => `${fieldName(by)}-${direction}`

type Sortable = Readonly<Record<string, Pick<Column<never>, "label" | "sort">>>

const sortsOf = (columns: Sortable) =>
  Object.entries(columns).flatMap(([by, { label = by, sort }]) =>
    (sort === undefined ? [] : Struct.keys(DIRECTIONS)).map((direction) => ({
      ...{ by, direction, name: sortName(by, direction), isFirst: direction === sort },
      words: `${label}, ${DIRECTIONS[direction]}`,
    })),
  )

/** The order of a column, as in `aria-sort`, and the value of the filter `sort` that its heading chooses. */
export interface Heading {
  readonly order: (typeof DIRECTIONS)[Direction] | undefined
  readonly next: string
}

/** Returns the headings of the columns by which a list can be sorted, by label. */
export const headingsOf = (
  { columns, sort }: { readonly columns: Sortable; readonly sort: Sort | undefined },
  chosen: unknown,
): Readonly<Record<string, Heading>> => {
  const current = sortsOf(columns).find(({ name }) => name === chosen) ?? sort
  return Object.fromEntries(
    Object.entries(columns).flatMap(([key, { label = key, sort: first }]) => {
      if (first === undefined) return []
      const direction = current?.by === key ? current.direction : undefined
      const next = direction === undefined ? first : direction === "asc" ? "desc" : "asc"
      return [[label, { order: direction && DIRECTIONS[direction], next: sortName(key, next) }] as const]
    }),
  )
}

/** Compares rows by a column; null comes last in both directions. */
const compareBy = ({ by, direction }: Sort, ...rows: readonly [one: object, other: object]): number => {
  const [a, b] = rows.map((row) => row[by as never] as unknown)
  if (a === b) return 0
  if (a === null || b === null) return a === null ? 1 : -1
  const order = typeof a === "number" ? a - Number(b) : String(a).localeCompare(String(b), "en")
  return direction === "asc" ? order : -order
}

/** Declares a list by its command's words. */
export const list = <
  Row extends object,
  R = never,
  Y extends Step = never,
  R2 = never,
  const C extends Cursor = Record<never, never>,
  const F extends Fields = Record<never, never>,
>(
  command: string,
  { cursor, key, read, ...declaration }: Declaration<F, C, Row, R, Y, R2>,
): List<F, Row, R2 | Exclude<R | Effect.Services<Y>, Scope.Scope>> => {
  const isWhole = cursor === undefined
  const readPart = toEffect(read)
  const names = key ?? Object.keys(declaration.columns).slice(0, 1)
  const { schema, toText: textOf } = cursorOf(cursor ?? Object.fromEntries(names.map((name) => [name, Schema.String])))
  const sorts = sortsOf(declaration.columns)
  const first = isWhole ? undefined : sorts.find(({ isFirst }) => isFirst)
  const options = sorts.map(({ name, words }) => [name, words] as const)
  return {
    role: "viewer",
    ...declaration,
    filters: {
      ...declaration.filters,
      ...(sorts.length > 0 && { sort: choice("Order", options, { all: "Default" }) }),
    } as unknown as F,
    command,
    isWhole,
    sort: first,
    read: Effect.fnUntraced(function* (given, { limit, after: from }) {
      const { sort: chosen, ...filter } = given as ValuesOf<F> & { readonly sort?: string }
      const sort = sorts.find(({ name }) => name === chosen) ?? first
      // A position in another order isn't one in this order.
      const prefix = sort === first ? "" : `${sort?.name}.`
      const toText = (row: object) => `${prefix}${textOf(row)}`
      if (from?.startsWith(prefix) === false) return yield* new InvalidAfter()
      const position = from === null ? Result.succeed(null) : parseInput(schema)(from.slice(prefix.length))
      if (Result.isFailure(position)) return yield* new InvalidAfter()
      const part = { limit, after: position.success as Position<C> | null, direction: sort?.direction ?? "desc" }
      const read = yield* readPart(filter as unknown as ValuesOf<F>, part)
      if (!Array.isArray(read)) {
        const { rows, next } = read as Page<Row, Position<C>>
        return { rows, next: next && toText(next) }
      }
      const found: ReadonlyArray<Row> =
        isWhole && sort ? (read as ReadonlyArray<Row>).toSorted((one, other) => compareBy(sort, one, other)) : read
      const last = isWhole && from !== null ? found.findIndex((row) => toText(row) === from) : undefined
      if (last === -1) return yield* new InvalidAfter()
      const rest: ReadonlyArray<Row> = last === undefined ? found : found.slice(last + 1)
      const rows = rest.slice(0, limit)
      return { rows, next: rest.length > limit ? toText(rows.at(-1)!) : null }
    }),
  }
}

/** Maximum number of rows of a command and a download. */
export const MAX_ROWS = 1000

/** The part of a list that a command prints. */
export const pageFields = {
  limit: withDefault(field(wholeNumber(1, MAX_ROWS), `Maximum number of rows, 1 to ${MAX_ROWS}`), "50"),
  after: field(Schema.String, "Start after this row, as printed at the end of the previous page"),
}

/** Reads pages until they have `limit` rows or the list ends; at most `maxPages`. */
export const readRows = Effect.fnUntraced(function* <F, Row, R>(
  { read }: Pick<List<F, Row, R>, "read">,
  filter: ValuesOf<F>,
  { limit, after, maxPages = Number.POSITIVE_INFINITY }: Part & { readonly maxPages?: number },
) {
  const rows: Array<Row> = []
  let next = after
  let pages = 0
  do {
    const page: Page<Row> = yield* read(filter, { limit: limit - rows.length, after: next })
    rows.push(...page.rows)
    next = page.next
    pages++
  } while (next !== null && rows.length < limit && pages < maxPages)
  return { rows, next }
})

/** Returns the operation that reads a page of a list. */
export const pageOperation = <F extends Fields, Row extends object, R>(list: List<F, Row, R>) =>
  operation(list.command, {
    access: list.isPersonal ? "reveals" : "reads",
    ...Struct.pick(list, ["about", "examples"]),
    input: { ...list.filters, ...pageFields },
    *run(given) {
      const { limit, after = null, ...others } = given as ValuesOf<F> & ValuesOf<typeof pageFields>
      const filter = others as unknown as ValuesOf<F>
      const { rows, next } = yield* readRows(list, filter, { limit, after })
      if (rows.length === 0) {
        yield* checkIds(filter)
        yield* list.whenEmpty?.(filter) ?? Effect.void
      }
      const data = rows.map((row) => Struct.omit(row, (list.omit ?? []) as ReadonlyArray<never>))
      return { data, hasMore: next !== null, ...(next !== null && { after: next }) }
    },
    show: ({ data }) => {
      const { rows, columns } = tableOf(list, data)
      return [rowsPart(rows, columns)]
    },
    next: ({ after }) => after,
  })

/** Reads all rows of a list without pages. */
export const readAll = <F, Row, R>({ read }: Pick<List<F, Row, R>, "read">, filter: ValuesOf<F>) =>
  Effect.map(read(filter, { limit: Number.MAX_SAFE_INTEGER, after: null }), ({ rows }) => rows)

export const valueIn = <Row>(row: Row, key: string, { value }: Column<Row>): unknown =>
  value === undefined ? row[key as keyof Row] : value(row)

/** Returns the values of rows for a table or CSV: of `ops`, or masked and of the columns with a label. */
export const tableOf = <F, Row, R>(
  { columns }: Pick<List<F, Row, R>, "columns">,
  rows: ReadonlyArray<Row>,
  { isMasked = false, isLabelled = false } = {},
): { readonly columns: ReadonlyArray<string>; readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>> } => {
  const shown = Object.entries(columns).filter(([, { isOfConsole, label }]) => !isOfConsole && (label || !isLabelled))
  const shownIn = (row: Row, key: string, column: Column<Row>) =>
    isMasked && column.mask !== undefined ? column.mask(row) : valueIn(row, key, column)
  return {
    columns: shown.map(([key]) => key),
    rows: rows.map((row) => Object.fromEntries(shown.map(([key, column]) => [key, shownIn(row, key, column)]))),
  }
}
