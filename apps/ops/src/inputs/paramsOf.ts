import {
  type AnyField,
  examplesOf,
  type Fields,
  fieldName,
  isOptional,
  prefixOf,
} from "@outreach/backoffice/operations/Field"
import { expectedBy, parseInput } from "@outreach/domain/textSchema"
import { Config, Effect, Option, Record, Result, type Schema } from "effect"
import { CliError, Param } from "effect/cli"
import { COMMAND_NAME } from "../output/formatHelp.ts"

/** The values of a command's fields. */
export type Values = Readonly<Record<string, unknown>>

/** Returns the flags and arguments of fields, named by their keys: `replyTo` is `--reply-to`, and `endpointId` is `--endpoint`. */
export const paramsOf = (fields: Fields): Readonly<Record<string, Param.Any>> =>
  Record.map(fields, (field, key) => paramOf(fieldName(key), field))

/** Returns the values of parsed flags and arguments. */
export const valuesOf = (parsed: Values): Values =>
  Object.fromEntries(
    Object.entries(parsed).flatMap(([key, value]) =>
      Option.isOption(value) ? Option.toArray(value).map((each) => [key, each]) : [[key, value]],
    ),
  )

/** Returns an example of a command, from the values of its arguments and required flags. */
export const exampleOf = (words: ReadonlyArray<string>, fields: Fields): string => {
  const inputs = Object.entries(examplesOf(fields)).flatMap(([key, text]) =>
    fields[key]!.control.isArgument ? [text] : [`--${fieldName(key)}`, text.includes(" ") ? `"${text}"` : text],
  )
  return ["ops", ...words, ...inputs].join(" ")
}

const wordsOf = ({ control: { options = [] } }: AnyField): ReadonlyArray<string> =>
  options.flatMap((option) => (typeof option === "object" && "id" in option ? [] : [option].flat()[0]!))

const paramOf = (name: string, field: AnyField): Param.Any => {
  const { kind, value, isRepeated } = field.control
  const words = wordsOf(field)
  const bare =
    kind === "switch"
      ? Param.Boolean("flag", name)
      : kind === "choice" && words.length > 0
        ? Param.Literals("flag", name, words)
        : textParam(name, field)
  const named = Param.withDescription(bare as Param.Param<Param.ParamKind, unknown>, describe(field))
  const param = kind === "file" || kind === "lines" ? Param.withMetavar(named, "file") : named
  if (isRepeated) return Param.map(Param.variadic(param), (values) => values.flat())
  // A switch has a default, so that the audit log records it only if it is given.
  if (kind === "switch" && words.length === 0) {
    return Param.withoutNegation(Param.withDefault(param as Param.Param<"flag", unknown>, false))
  }
  if (isOptional(field)) return Param.optional(param)
  if (typeof value === "string") return Param.withDefault(param, parsedOf(field, value))
  return Param.withFallbackConfig(
    param,
    Config.map(Config.all({}), () => MISSING),
  )
}

/** The value of a required input that is missing. The parser would report only the first of them. */
const MISSING = Symbol("missing")

/** Fails if required inputs are missing, and names all of them. */
export const checkComplete = (words: ReadonlyArray<string>, fields: Fields, parsed: Values) => {
  const missing = Object.keys(fields).filter((key) => parsed[key] === MISSING)
  if (missing.length === 0) return Effect.void
  const names = missing.map((key) => (fields[key]!.control.isArgument ? `<${fieldName(key)}>` : `--${fieldName(key)}`))
  const message = `${[COMMAND_NAME, ...words].join(" ")} needs ${new Intl.ListFormat("en-GB").format(names)}.`
  return Effect.fail(new CliError.ValidationError({ message }))
}

/** A field of many lines is the name of a file. */
const textParam = (name: string, { schema, control: { kind, isArgument } }: AnyField) => {
  const param = Param.String(isArgument ? "argument" : "flag", name)
  return kind === "lines" ? param : Param.mapEffect(param, parse(isArgument ? "argument" : "flag", name, schema))
}

const parse = (kind: "flag" | "argument", option: string, schema: Schema.Codec<unknown, string>) =>
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

const parsedOf = ({ schema }: AnyField, text: string): unknown =>
  Result.getOrThrow(parseInput<unknown, string>(schema)(text))

const describe = (field: AnyField): string => {
  const { kind, label, hint, value, example, options = [] } = field.control
  const texts = options.flatMap((option) => (Array.isArray(option) ? [option[1]] : []))
  const note = hint ?? texts.filter((text) => text.includes(": ")).join("; ")
  const details = kind === "boxes" ? expectedBy(field.schema) : note && lowerFirst(note)
  const prefix = example === undefined ? prefixOf(field.schema) : undefined
  const name = [kind === "lines" ? `${label} file` : label, prefix].filter((text) => text !== undefined).join(", ")
  const named = details === "" ? name : `${name}: ${details}`
  const exampled = example === undefined ? named : `${named}, such as ${example}`
  return typeof value === "string" ? `${exampled} (default ${value})` : exampled
}

/** An abbreviation stays as it is. */
const lowerFirst = (text: string): string => text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
