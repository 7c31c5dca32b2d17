import type { Fields } from "@outreach/backoffice/operations/Field"
import type { InputOf, Operation, Subject } from "@outreach/backoffice/operations/Operation"
import { parseInput } from "@outreach/domain/textSchema"
import { Effect, Record, Result, Struct } from "effect"
import { valuesOf } from "../view/inputs.ts"
import { reject } from "./PageError.ts"
import type { RequestContext } from "./Route.ts"

/** The values of a form and its path by name. */
export type Values = Record.ReadonlyRecord<string, unknown>

/** Returns the input of an operation from the values of a form and its path. */
export const givenTo = <S extends Subject, F extends Fields>(
  { of, input }: { readonly of: S; readonly input: F },
  values: Values,
): InputOf<S, F> => valuesOf({ ...of, ...input } as never, values) as InputOf<S, F>

const NO_CHANGE = "No change: these are the current settings."

/** Runs an operation. Returns its result and the sentence about it; without a change, no result. */
export const runOperation = Effect.fnUntraced(function* <S extends Subject, F extends Fields, Found, A, R>(
  operation: Operation<S, F, Found, A, R>,
  values: Values,
  context: RequestContext,
) {
  const given = givenTo(operation, values)
  const result = yield* runChanges(operation, given, context)
  return { given, result, notice: result === undefined ? NO_CHANGE : operation.done(result, given) }
})

/** Runs an operation on an object that hasn't changed since its form was shown. Only changed values are given to a partial operation. */
const runChanges = Effect.fnUntraced(function* <S extends Subject, F extends Fields, Found, A, R>(
  { find, run, texts, versionOf, of, input, isPartial }: Operation<S, F, Found, A, R>,
  given: InputOf<S, F>,
  { version, operator }: RequestContext,
) {
  if (find === undefined) return yield* run(given, operator.name)
  const changesOf = (found: Found) => {
    const shown: Values = texts?.(found) ?? {}
    const now = Record.map(Struct.pick(shown, Object.keys(input)), (text, key) =>
      parseInput(input[key]!.schema)(String(text)).pipe(Result.getOrElse(() => undefined)),
    )
    const isChanged = ([key, value]: readonly [string, unknown]) =>
      !(key in now) || JSON.stringify(value) !== JSON.stringify(now[key])
    return { shown, changes: Object.entries(given).filter(isChanged) }
  }
  const rejectStale = (found: Found) => {
    const { shown, changes } = changesOf(found)
    const differences = changes.flatMap(([key]) =>
      key in shown ? ` ${input[key]!.control.label} is now ${[shown[key]].flat().join(", ")}.` : [],
    )
    return reject(
      "StaleForm",
      `Another operator changed this while the page was open, so your change wasn't saved.${differences.join("")} Compare your values with the current ones, and submit the form again.`,
    )
  }
  const found = yield* find(given)
  if (version !== "" && versionOf !== undefined && version !== versionOf(found)) return yield* rejectStale(found)
  if (!isPartial) return yield* run(given, operator.name)
  const { changes } = changesOf(found)
  if (changes.every(([key]) => key in of)) return undefined
  return yield* Effect.catchIf(
    run(Object.fromEntries(changes) as InputOf<S, F>, operator.name, version || undefined),
    ({ _tag }) => _tag === "ChangedMeanwhile",
    () => Effect.flatMap(find(given), rejectStale),
  )
})
