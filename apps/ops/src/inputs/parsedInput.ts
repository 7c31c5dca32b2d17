import { parseInput } from "@outreach/domain/parseInput"
import { Effect, Result, type Schema } from "effect"
import { Argument, CliError, Flag } from "effect/cli"

/** A schema, or an effect that loads it when the input is given. */
type InputSchema<A> = Schema.Codec<A, string> | Effect.Effect<Schema.Codec<A, string>>

/** Creates a flag whose text is parsed by a schema. */
export const parsedFlag = <A>(name: string, schema: InputSchema<A>, description: string): Flag.Flag<A> =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.mapEffect(parse("flag", name, schema)))

/** Creates an argument whose text is parsed by a schema. */
export const parsedArgument = <A>(name: string, schema: InputSchema<A>, description: string): Argument.Argument<A> =>
  Argument.String(name).pipe(Argument.withDescription(description), Argument.mapEffect(parse("argument", name, schema)))

/** Creates a flag for a whole number of a range. */
export const wholeNumberFlag = (name: string, least: number, most: number, description: string): Flag.Flag<number> =>
  Flag.Int(name).pipe(
    Flag.withDescription(description),
    Flag.filter(
      (value) => value >= least && value <= most,
      () => `a whole number from ${least} to ${most}`,
    ),
  )

/** Creates a flag that is off unless given. */
export const switchFlag = (name: string, description: string): Flag.Flag<boolean> =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const parse = <A>(kind: "flag" | "argument", option: string, schema: InputSchema<A>) =>
  Effect.fnUntraced(function* (value: string) {
    const parsed = parseInput(Effect.isEffect(schema) ? yield* schema : schema)(value)
    if (Result.isSuccess(parsed)) return parsed.success
    const { expected, reason } = parsed.failure
    return yield* new CliError.InvalidValue({
      option,
      value,
      expected: reason === "" ? expected : `${expected}; ${reason}`,
      kind,
    })
  })
