import {
  type Codec,
  type Control,
  type Fields,
  fieldName,
  type Input,
  type ValuesOf,
} from "@outreach/backoffice/operations/Field"
import { expectedBy, parseInput } from "@outreach/domain/textSchema"
import { Record, Result } from "effect"

export const takesFile = (inputs: Inputs): boolean =>
  Object.values(inputs).some((input) => controlOf(input)?.kind === "file")

/** The values of a path, a query or a form by name. An absent or empty value is undefined unless it is `required`. */
// biome-ignore lint/suspicious/noExplicitAny: a codec is not covariant.
export type Inputs = Readonly<Record<string, Codec<any> | Input<any, boolean>>>

/** The values of inputs by name. */
export type Values = Readonly<Record<string, unknown>>

export type InputsOf<I> = {
  readonly [K in keyof I]: I[K] extends Input<infer A, true>
    ? A
    : I[K] extends Input<infer A, false> | Codec<infer A>
      ? A | undefined
      : never
}

/** Returns the control of an input; undefined if a form doesn't show it. */
export const controlOf = (input: Inputs[string] | undefined): Control | undefined =>
  input !== undefined && "isRequired" in input && input.control
    ? { required: input.isRequired, ...input.control }
    : undefined

/** A time from a form without scripts has no zone and is in UTC. */
const WITHOUT_ZONE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/
const inUtc = (text: string): string =>
  text.replace(WITHOUT_ZONE, (_, minute: string, seconds = ":00") => `${minute}${seconds}Z`)

/** Parses an input. Fails with a sentence that doesn't repeat the value. */
const parse = (name: string, input: Inputs[string], entered: string): Result.Result<unknown, string> => {
  const { schema, isRequired } = "isRequired" in input ? input : { schema: input, isRequired: false }
  const control = controlOf(input)
  const called = control?.label ?? name
  const text = entered === "" && isRequired && typeof control?.value === "string" ? control.value : entered
  if (text === "") {
    return isRequired
      ? Result.fail(`${called} is missing. It must be ${expectedBy(schema)}.`)
      : Result.succeed(undefined)
  }
  // PostgreSQL can't store it in a text.
  if (text.includes("\0")) return Result.fail(`${called} is not valid: it contains a NUL character.`)
  return Result.mapError(
    parseInput(schema)(control?.kind === "instant" ? inUtc(text) : text),
    ({ expected, reason }) => `${called} is not valid${reason && `: ${reason}`}. It must be ${expected}.`,
  )
}

/** The errors of inputs, one sentence each, by name. */
export type Faults = Readonly<Record<string, string>>

interface ParsedInputs {
  /** The valid values. */
  readonly values: Readonly<Record<string, unknown>>
  readonly faults: Faults
}

/** Parses the given values. Repeated values of a name are joined by commas. */
export const parseInputs = (declared: Inputs, given: Iterable<readonly [string, string | undefined]>): ParsedInputs => {
  const texts = new Map<string, string>()
  for (const [name, value] of given) {
    if (value) texts.set(name, texts.has(name) ? `${texts.get(name)},${value}` : value)
  }
  const [values, faults] = Record.partition(declared, (input, name) =>
    parse(name, input, texts.get(name)?.trim() ?? ""),
  )
  // Every range uses these names. Times and dates sort as text.
  const { from, to } = values
  if (typeof from !== "string" || typeof to !== "string" || from <= to) return { values, faults }
  const [begin, end] = ["from", "to"].map((name) => controlOf(declared[name]!)?.label ?? name)
  return { values, faults: { ...faults, to: `${end} is not valid. It must not be before ${begin}.` } }
}

type Defined<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> }

export const pickDefined = <A extends Readonly<Record<string, unknown>>>(values: A): Defined<A> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<A>

/** Returns the values of fields by the domain's names. */
export const valuesOf = <const F extends Fields>(fields: F, given: Readonly<Record<string, unknown>>) =>
  pickDefined(Record.map(fields, (_, key) => given[fieldName(key)])) as ValuesOf<F>
