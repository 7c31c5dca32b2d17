import { type List, readRows, tableOf } from "@outreach/backoffice/lists/List"
import type { Fields, ValuesOf } from "@outreach/backoffice/operations/Field"
import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import type { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { Effect, type Layer, Struct } from "effect"
import { checkFilter, type Declared, reading, revealing } from "./Declaration.ts"
import { inputsOf, type Needed, type Provided } from "./operationCommand.ts"
import { showingProgress } from "./output/Output.ts"
import { pageFlags, printPage } from "./output/paging.ts"

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
      ...pageFlags,
    },
    *run({ limit, after = undefined, ...filter }: Given) {
      const part = { limit, after: after ?? null }
      const found = yield* showingProgress()(readRows(list, filter as ValuesOf<F>, part))
      if (found.rows.length === 0) {
        yield* checkFilter(filter)
        yield* whenEmpty(filter as ValuesOf<F>)
      }
      const data = found.rows.map((row) => Struct.omit(row, (list.omit ?? []) as ReadonlyArray<never>))
      yield* printPage({ ...found, rows: data }, tableOf(list, found.rows))
    },
    ...others,
  } as never) as Declared<never>
}
