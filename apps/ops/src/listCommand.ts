import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import { type List, readRows, tableOf } from "@outreach/backoffice/lists/List"
import type { Fields, ValuesOf } from "@outreach/backoffice/operations/Field"
import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import type { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { Effect, type Layer, Struct } from "effect"
import { COMMAND_NAME } from "./commandName.ts"
import { checkFilter, type Declared, reading, revealing } from "./Declaration.ts"
import { optional, text, wholeNumber, withDefault } from "./inputs/Input.ts"
import { inputsOf, type Needed, type Provided } from "./operationCommand.ts"
import { CommandLine, formatRows, print, printToStderr, showingProgress } from "./output/Output.ts"

export const limit = withDefault(wholeNumber(1, 1000, "Maximum number of rows, 1 to 1000 (default 50)"), 50)

interface Given {
  readonly limit: number
  readonly after?: string
}

interface Options<F> {
  /** Checks a filter without results. */
  readonly whenEmpty?: (filter: ValuesOf<F>) => Effect.Effect<unknown, TaggedFailure, unknown>
  /** Services that only this command of its group needs. */
  readonly services?: Layer.Any
}

/** Declares the command of a list: its filters, `--limit` and `--after` are flags. */
export const listCommand = <F extends Fields, Row extends object, R, const O extends Options<F> = Record<never, never>>(
  list: List<F, Row, R>,
  options?: O & Options<F>,
): Declared<Exclude<R, Provided<O>> | Needed<O> | AuditLog> => {
  const { whenEmpty = () => Effect.void, ...others }: Options<F> = options ?? {}
  const declare = list.isPersonal ? revealing : reading
  return declare({
    ...Struct.pick(list, ["about"]),
    ...(list.examples && { examples: list.examples }),
    input: {
      ...inputsOf(list.filters),
      limit,
      after: optional(text("Start after this row, as printed at the end of the previous page", "row")),
    },
    *run({ limit, after = undefined, ...filter }: Given) {
      const part = { limit, after: after ?? null }
      const { rows, next } = yield* showingProgress()(readRows(list, filter as ValuesOf<F>, part))
      if (rows.length === 0) {
        yield* checkFilter(filter)
        yield* whenEmpty(filter as ValuesOf<F>)
      }
      const data = rows.map((row) => Struct.omit(row, (list.omit ?? []) as ReadonlyArray<never>))
      const table = tableOf(list, rows)
      yield* print(
        { data, hasMore: next !== null, ...(next !== null && { after: next }) },
        () => formatRows(table.rows, table.columns),
        () => csvTable(table.columns, table.rows),
      )
      if (next !== null) yield* printToStderr(`There are more: ${nextCommand(yield* CommandLine, next)}`)
    },
    ...others,
  } as never) as Declared<never>
}

const nextCommand = (words: ReadonlyArray<string>, after: string): string => {
  const others = words.filter(
    (word, i) => word !== "--after" && words[i - 1] !== "--after" && !word.startsWith("--after="),
  )
  return formatCommand([COMMAND_NAME, ...others, "--after", after])
}
