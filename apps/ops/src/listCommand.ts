import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCommand } from "@outreach/backoffice/formatCommand"
import { type List, type Page, readRows, tableOf } from "@outreach/backoffice/lists/List"
import type { Fields, ValuesOf } from "@outreach/backoffice/operations/Field"
import type { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { type Layer, Struct } from "effect"
import { COMMAND_NAME } from "./commandName.ts"
import { checkFilter, type Declared, reading, revealing } from "./Declaration.ts"
import { inputsOf, type Needed, type Provided } from "./operationCommand.ts"
import { formatRows, print, printToStderr } from "./output/Output.ts"
import { CommandLine, pageFlags } from "./output/paging.ts"

interface Given {
  readonly limit: number
  readonly after?: string
}

interface Options {
  /** Services that only this command of its group needs. */
  readonly services?: Layer.Any
}

/** Declares the command of a list: its filters, `--limit` and `--after` are flags. */
export const listCommand = <F extends Fields, Row extends object, R, const O extends Options = Record<never, never>>(
  list: List<F, Row, R>,
  options?: O & Options,
): Declared<Exclude<R, Provided<O>> | Needed<O> | AuditLog> => {
  const declare = list.isPersonal ? revealing : reading
  return declare({
    ...Struct.pick(list, ["about"]),
    ...(list.examples && { examples: list.examples }),
    input: {
      ...inputsOf(list.filters),
      ...pageFlags,
    },
    *run({ limit, after = undefined, ...filter }: Given) {
      const found = yield* readRows(list, filter as ValuesOf<F>, { limit, after: after ?? null })
      if (found.rows.length === 0) yield* checkFilter(filter)
      yield* printPage(list, found)
    },
    ...options,
  } as never) as Declared<never>
}

/** Prints a page of a list, and the command for the next one. */
const printPage = function* <F, Row extends object, R>(list: List<F, Row, R>, { rows, next }: Page<Row>) {
  const { omit = [] } = list
  const table = tableOf(list, rows)
  const data = rows.map((row) => Struct.omit(row, omit as ReadonlyArray<never>))
  yield* print(
    { data, hasMore: next !== null, ...(next !== null && { after: next }) },
    () => formatRows(table.rows, table.columns),
    () => csvTable(table.columns, table.rows),
  )
  if (next !== null) yield* printToStderr(`There are more: ${nextCommand(yield* CommandLine, next)}`)
}

const nextCommand = (words: ReadonlyArray<string>, after: string): string => {
  const others = words.filter(
    (word, i) => word !== "--after" && words[i - 1] !== "--after" && !word.startsWith("--after="),
  )
  return formatCommand([COMMAND_NAME, ...others, "--after", after])
}
