import { fieldName } from "@outreach/backoffice/operations/Field"
import { parseInput } from "@outreach/domain/parseInput"
import { Effect, Option, Result, type Schema } from "effect"
import { CliError, type Flag, Param } from "effect/cli"

/** An input of a command: a flag or an argument, named by its key. The key `replyTo` is `--reply-to`, and `endpointId` is `--endpoint`. */
export interface Input<out A> {
  readonly toParam: (name: string) => Param.Param<Param.ParamKind, A>
  /** A value for the command's example; none for an optional input. */
  readonly example?: { readonly kind: "flag" | "argument"; readonly text: string } | undefined
}

const describe = <Kind extends Param.ParamKind, A>(
  param: Param.Param<Kind, A>,
  description: string,
  metavar?: string,
): Param.Param<Kind, A> => {
  const described = Param.withDescription(param, description)
  return metavar === undefined ? described : Param.withMetavar(described, metavar)
}

export const text = (description: string, metavar?: string): Input<string> => ({
  toParam: (name) => describe(Param.String("flag", name), description, metavar),
})

export const textArgument = (description: string): Input<string> => ({
  toParam: (name) => describe(Param.String("argument", name), description),
})

export const flag = <A>(schema: Schema.Codec<A, string>, description: string, metavar?: string): Input<A> => ({
  toParam: (name) => Param.mapEffect(text(description, metavar).toParam(name), parse("flag", name, schema)),
  example: idIn("flag", description),
})

export const argument = <A>(schema: Schema.Codec<A, string>, description: string): Input<A> => ({
  toParam: (name) => Param.mapEffect(textArgument(description).toParam(name), parse("argument", name, schema)),
  example: idIn("argument", description),
})

const idIn = (kind: "flag" | "argument", description: string) => {
  const [text] = /\b[a-z]{3}_…/.exec(description) ?? []
  return text === undefined ? undefined : { kind, text }
}

/** An argument that can be repeated. */
export const several = <A>(input: Input<A>): Input<ReadonlyArray<A>> => ({
  toParam: (name) => Param.variadic(input.toParam(name)),
})

export const choice = <const Word extends string>(
  words: ReadonlyArray<Word>,
  description: string,
  metavar?: string,
): Input<Word> => ({
  toParam: (name) => describe(Param.Literals("flag", name, words), description, metavar),
})

export const anyInteger = (description: string, metavar?: string): Input<number> => ({
  toParam: (name) => describe(Param.Int("flag", name), description, metavar),
})

export const wholeNumber = (
  min: number,
  max: number,
  description: string,
  expected = `a whole number from ${min} to ${max}`,
): Input<number> => ({
  toParam: (name) =>
    Param.filter(
      anyInteger(description).toParam(name),
      (value) => value >= min && value <= max,
      () => expected,
    ),
})

/** A flag that can be on, or off by its form `--no-…`. */
export const onOrOff = (description: string): Input<boolean> => ({
  toParam: (name) => describe(Param.Boolean("flag", name), description),
})

/** A flag that is off by default. */
export const switchFlag = (description: string): Input<boolean> => withDefault(onOrOff(description), false)

/** A flag that is off by default, without the form `--no-…`. */
export const onlySwitch = (description: string) => ({
  toParam: (name: string): Flag.Flag<boolean> => {
    const param = describe(Param.Boolean("flag", name), description)
    return Param.withoutNegation(Param.withDefault(param, false))
  },
})

/** Makes an input optional: its value is an optional field. */
export const optional = <A>(input: Input<A>): Input<Option.Option<A>> => ({
  toParam: (name) => Param.optional(input.toParam(name)),
})

export const withDefault = <A, const B>(input: Input<A>, value: B): Input<A | B> => ({
  toParam: (name) => Param.withDefault(input.toParam(name), value),
})

const parse = <A>(kind: "flag" | "argument", option: string, schema: Schema.Codec<A, string>) =>
  Effect.fnUntraced(function* (value: string) {
    const parsed = parseInput(schema)(value)
    if (Result.isSuccess(parsed)) return parsed.success
    const { expected, reason } = parsed.failure
    return yield* new CliError.InvalidValue({
      option,
      value,
      expected: reason === "" ? expected : `${expected}; ${reason}`,
      kind,
    })
  })

/** The inputs of a command by key, or by the keys of a group of inputs. */
export interface Inputs {
  readonly [key: string]: Input<unknown> | Inputs
}

type ValueOf<I> = I extends Input<infer A> ? A : I extends Inputs ? Values<I> : never
type OptionalKey<I> = { [K in keyof I]: I[K] extends Input<Option.Option<unknown>> ? K : never }[keyof I]

/** The values of inputs for a command. Optional inputs are optional fields. */
export type Values<I> = {
  readonly [K in Exclude<keyof I, OptionalKey<I>>]: ValueOf<I[K]>
} & { readonly [K in OptionalKey<I>]?: I[K] extends Input<Option.Option<infer A>> ? A : never }

export interface Params {
  readonly [key: string]: Param.Any | Params
}

export const isParam = (param: Param.Any | Params): param is Param.Any => Param.isParam(param)

/** Returns an example of a command, from the values of its arguments and required flags. */
export const exampleOf = (words: ReadonlyArray<string>, inputs: Inputs): string =>
  [
    "ops",
    ...words,
    ...Object.entries(inputs).flatMap(([key, input]) => {
      if (!isInput(input) || input.example === undefined) return []
      const { kind, text } = input.example
      return kind === "flag" ? [`--${fieldName(key)}`, quoted(text)] : [text]
    }),
  ].join(" ")

export const toParams = (inputs: Inputs): Params =>
  Object.fromEntries(
    Object.entries(inputs).map(([key, input]) => [
      key,
      isInput(input) ? input.toParam(fieldName(key)) : toParams(input),
    ]),
  )

const isInput = (input: Input<unknown> | Inputs): input is Input<unknown> => typeof input["toParam"] === "function"

const quoted = (text: string): string => (text.includes(" ") ? `"${text}"` : text)

export interface Parsed {
  readonly [key: string]: unknown
}

export const valuesOf = (params: Params, parsed: Parsed): Parsed =>
  Object.fromEntries(
    Object.entries(params).flatMap(([key, param]) => {
      const value = parsed[key]
      if (!isParam(param)) return [[key, valuesOf(param, value as Parsed)]]
      if (!Option.isOption(value)) return [[key, value]]
      return Option.isSome(value) ? [[key, value.value]] : []
    }),
  )
