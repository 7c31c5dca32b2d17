import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import { type List, pageFields, readRows, tableOf } from "@outreach/backoffice/lists/List"
import type { Fields, ValuesOf } from "@outreach/backoffice/operations/Field"
import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import { Effect, type Layer, Struct } from "effect"
import { COMMAND_NAME } from "./commandName.ts"
import { checkFilter, createCommand, type Services } from "./createCommand.ts"
import type { Values } from "./inputs/paramsOf.ts"
import { CommandLine, formatRows, print, printToStderr, showingProgress } from "./output/Output.ts"

interface Given extends Values {
  readonly limit: number
  readonly after?: string
}

interface Options<F, P> {
  /** Checks a filter without results. */
  readonly whenEmpty?: (filter: ValuesOf<F>) => Effect.Effect<unknown, TaggedFailure, Services>
  /** Services that only this command needs. */
  readonly services?: Layer.Layer<P, unknown, Services>
}

/** Creates the command of a list: its filters, `--limit` and `--after` are flags. */
export const listCommand = <F extends Fields, Row extends object, P = never>(
  list: List<F, Row, Services | P>,
  { whenEmpty = () => Effect.void, services }: Options<F, P> = {},
) =>
  createCommand({
    words: list.command,
    access: list.isPersonal ? "reveals" : "reads",
    ...Struct.pick(list, ["about", "examples"]),
    input: { ...list.filters, ...pageFields },
    run: Effect.fnUntraced(function* ({ limit, after, ...given }: Given) {
      const filter = given as unknown as ValuesOf<F>
      const { rows, next } = yield* showingProgress()(readRows(list, filter, { limit, after: after ?? null }))
      if (rows.length === 0) {
        yield* checkFilter(given)
        yield* whenEmpty(filter)
      }
      const data = rows.map((row) => Struct.omit(row, (list.omit ?? []) as ReadonlyArray<never>))
      const table = tableOf(list, rows)
      yield* print(
        { data, hasMore: next !== null, ...(next !== null && { after: next }) },
        () => formatRows(table.rows, table.columns),
        () => csvTable(table.columns, table.rows),
      )
      if (next !== null) yield* printToStderr(`There are more: ${nextCommand(yield* CommandLine, next)}`)
    }) as never,
    ...(services && { services: services as Layer.Layer<never, unknown, unknown> }),
  })

const nextCommand = (words: ReadonlyArray<string>, after: string): string => {
  const others = words.filter(
    (word, i) => word !== "--after" && words[i - 1] !== "--after" && !word.startsWith("--after="),
  )
  return formatCommand([COMMAND_NAME, ...others, "--after", after])
}
