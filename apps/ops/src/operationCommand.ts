import { type AnyField, type Field, type Fields, fieldName } from "@outreach/backoffice/operations/Field"
import type { Fact, InputOf, Operation, Plan, Subject } from "@outreach/backoffice/operations/Operation"
import type { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { expectedBy, parseInput } from "@outreach/domain/parseInput"
import { Effect, type Layer, type Option, Result, type Schema } from "effect"
import { operatorOrUser } from "./audit/audited.ts"
import { changing, checkFilter, type Declared } from "./Declaration.ts"
import {
  argument,
  choice,
  flag,
  type Input,
  onOrOff,
  optional,
  several,
  switchFlag,
  text,
  withDefault,
} from "./inputs/Input.ts"
import { readTexts } from "./inputs/readTexts.ts"
import { confirm, formatCell, print, showingProgress, yes } from "./output/Output.ts"

interface Options<A> {
  /** Formats the result for people. Default: a line for each field. */
  readonly format?: (result: A) => string | ReadonlyArray<string>
  /** Services that only this command of its group needs. */
  readonly services?: Layer.Any
}

export type Provided<O> = O extends { readonly services: Layer.Any } ? Layer.Success<O["services"]> : never
export type Needed<O> = O extends { readonly services: Layer.Any } ? Layer.Services<O["services"]> : never

/** Declares the command of an operation. Its object is an argument, and its fields are flags. */
export const command = <
  S extends Subject,
  F extends Fields,
  Found,
  A extends object,
  R,
  const O extends Options<A> = Record<never, never>,
>(
  operation: Operation<S, F, Found, A, R>,
  options?: O & Options<A>,
): Declared<Exclude<R, Provided<O>> | Needed<O> | AuditLog> => {
  const { about, of, input, isPartial, isIrreversible, isReplay, plan, preview, shownOnce, done, examples } = operation
  const subject = Object.entries(of).map(([key, schema]) => [key, idArgument(key, schema)] as const)
  const flags = inputsOf(input)
  const inputOfOperation = ({ changes, yes: _, dryRun: __, detach: ___, ...given }: Given) =>
    ({ ...given, ...changes }) as InputOf<S, F>
  return changing({
    about: isIrreversible ? `${about}. Requires confirmation or --yes` : about,
    input: {
      ...Object.fromEntries(subject),
      ...(isPartial ? { changes: flags } : flags),
      ...(preview && { dryRun: switchFlag("Only count what would be affected") }),
      ...(isReplay && { detach: switchFlag("Don't wait for the workers to finish") }),
      ...(isIrreversible && { yes }),
    },
    *run(given: Given) {
      const input = (yield* readTexts(operation.input, inputOfOperation(given))) as InputOf<S, F>
      if (given.dryRun && preview !== undefined) {
        const { data, text } = yield* preview(input)
        if (data.count === 0) yield* checkFilter(input)
        return yield* print(data, () => text)
      }
      const planned = isIrreversible && plan !== undefined ? yield* plan(input) : undefined
      const confirmed = planned === undefined ? {} : yield* confirmPlan(planned, given)
      const result = yield* showingProgress()(operation.run({ ...input, ...confirmed }, yield* operatorOrUser))
      if (!isReplay || !("total" in result)) return result
      if (result.total === 0) yield* checkFilter(input)
      const { printWhenEnded } = yield* Effect.promise(() => import("./deadLetters/followReplay.ts"))
      return yield* printWhenEnded(result as never, { detach: given.detach === true, started: done(result, input) })
    },
    note: (result: A, given: Given) =>
      [
        `\n${done(result, inputOfOperation(given))}`,
        ...(shownOnce?.(result) === undefined ? [] : ["This is shown only once. Save it now."]),
      ].join("\n"),
    ...(examples && { examples }),
    ...options,
  } as never) as Declared<never>
}

/** Prompts to confirm a plan, unless it needs no confirmation. Returns the confirmed values. */
export const confirmPlan = (plan: Plan, { yes = false, confirm: count }: Pick<Given, "yes" | "confirm"> = {}) => {
  const { caution, values = {} } = plan
  return confirm(describePlan(plan), {
    yes: yes || count !== undefined || caution === undefined,
    ...(plan.count !== undefined && { count: plan.count }),
    ...("confirm" in values && { flags: `--confirm ${plan.count}, or --yes for however many,` }),
  }).pipe(Effect.as(yes || count !== undefined ? {} : values))
}

interface Given {
  readonly yes?: boolean
  /** The number of objects that the operation may affect. */
  readonly confirm?: number
  readonly dryRun?: boolean
  readonly detach?: boolean
  readonly changes?: object
}

/** Returns the argument for an object by its id. */
export const idArgument = <A>(key: string, schema: Schema.Codec<A, string>) => {
  const [prefix, expected] = [prefixOf(schema), expectedBy(schema)]
  const id = `${expected.replace("the id", "Id").replace(/:.*/, "")}, ${prefix}`
  return argument(schema, prefix === undefined ? `The ${fieldName(key).replaceAll("-", " ")}: ${expected}` : id)
}

/** Returns the start of the ids of a schema, such as `org_…`; undefined if it has no ids. */
const prefixOf = (schema: Schema.Constraint): string | undefined => {
  const [, prefix] = /: ([a-z]{3}_) and 32 hex digits$/.exec(expectedBy(schema)) ?? []
  return prefix && `${prefix}…`
}

type InputsOf<F> = {
  readonly [K in keyof F]: F[K] extends Field<infer A, true>
    ? Input<A>
    : F[K] extends Field<infer A, boolean>
      ? Input<Option.Option<A>>
      : never
}

/** Returns the flags of fields. */
export const inputsOf = <F extends Fields>(fields: F): InputsOf<F> =>
  Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, inputOf(field)])) as InputsOf<F>

const inputOf = ({ schema, isRequired, control }: AnyField): Input<unknown> => {
  const { kind, label, hint, example = prefixOf(schema), value, options = [], isArgument, required } = control
  const texts = options.flatMap((option) => (Array.isArray(option) ? [option[1]] : []))
  const note = hint ?? texts.filter((text) => text.includes(": ")).join("; ")
  const details = kind === "boxes" ? expectedBy(schema) : note && lowerFirst(note)
  const name = kind === "lines" ? `${label} file` : label
  const named = details === "" ? name : `${name}: ${details}`
  const exampled = example === undefined ? named : `${named}, such as ${example}`
  const description = typeof value === "string" ? `${exampled} (default ${value})` : exampled
  const words = options.flatMap((option) => (typeof option === "object" && "id" in option ? [] : [option].flat()[0]!))
  const isSwitch = kind === "switch" && words.length === 1
  const input = isSwitch
    ? switchFlag(description)
    : kind === "switch"
      ? onOrOff(description)
      : kind === "choice" && words.length > 0
        ? choice(words, description)
        : isArgument
          ? argument(schema, description)
          : kind === "lines"
            ? text(description, "file")
            : flag(schema, description, kind === "file" ? kind : undefined)
  if (isArgument === "repeated") return several(input)
  const exemplified = example === undefined ? input : { ...input, example: { kind: "flag" as const, text: example } }
  // A switch has a default, so that the audit log records it only if it is given.
  if (!isRequired && !required && !isSwitch) return optional(exemplified)
  return typeof value === "string"
    ? withDefault(input, Result.getOrThrow(parseInput<unknown, string>(schema)(value)))
    : exemplified
}

/** An abbreviation stays as it is. */
const lowerFirst = (text: string): string => text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())

/** Describes what an operation would do, after a verb. */
const describePlan = ({ title, many, affects, facts = {}, when, caution }: Plan): string =>
  [
    `${lowerFirst(title)}: ${many} of ${[affects.name, affects.id].filter(Boolean).join(", ")}.`,
    ...Object.entries(facts).map(([label, fact]) => `${label}: ${textOf(fact)}.`),
    when,
    caution?.because,
  ]
    .filter((text) => text !== undefined)
    .join(" ")
    .slice(0, -1)

const textOf = (fact: Fact): string => {
  if (fact === null || typeof fact === "string") return formatCell(fact)
  return "at" in fact ? (fact.at === null ? "never" : formatCell(fact.at)) : fact.id
}
